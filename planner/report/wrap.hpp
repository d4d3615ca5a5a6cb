#pragma once
// Long lines, broken at words.
#include <planner/report/style.hpp>
#include <string>

namespace shardplan {

/// `text` in lines of at most `width` columns: the first behind `first`, the others behind as many spaces.
std::string wrap_text(const std::string& text, const std::string& first, std::size_t width);

}  // namespace shardplan
