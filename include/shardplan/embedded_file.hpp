#pragma once
// A data file compiled into the binary (cmake/embed_files.cmake), so that an installed shardplan needs no data
// directory.
#include <span>
#include <string_view>

namespace shardplan {

struct EmbeddedFile {
  std::string_view name;  ///< stem of the file name
  std::string_view text;
};

}  // namespace shardplan
