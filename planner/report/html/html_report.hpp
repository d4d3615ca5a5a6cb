#pragma once
// An answer as one file that opens in a browser, offline: page/ has its markup, style and scripts, the JSON answer stands
// in it whole, and everything that is shown is drawn from that.
#include <string>
#include <string_view>

namespace shardplan {

/// `json` is what --format json prints. The page names no other file, and its content security policy allows none.
std::string html_page(std::string_view title, std::string_view json);

}  // namespace shardplan
