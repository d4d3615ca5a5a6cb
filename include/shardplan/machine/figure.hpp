#pragma once
// One number of a data file with where it came from.
#include <string>
#include <string_view>

namespace shardplan {

enum class Basis { datasheet, measured, derived, assumed };
std::string_view name_of(Basis basis);  ///< "datasheet"

/// In SI units (bytes, bytes/s, flop/s, s, 1).
struct Figure {
  double value = 0;
  std::string unit;  ///< as printed in the file ("GB/s"); `value` is already converted
  std::string source;
  Basis basis = Basis::assumed;
};

}  // namespace shardplan
