#pragma once
// Where a file stands in the repository that a CI service looks at, which is the folder that shardplan runs in.
#include <string>

namespace shardplan {

struct SourcePlace {
  std::string uri;         ///< relative to the folder, percent-encoded (RFC 3986); outside of it the file's name alone
  bool is_inside = false;  ///< code scanning shows no other
};

SourcePlace source_place(const std::string& path, const std::string& folder);

}  // namespace shardplan
