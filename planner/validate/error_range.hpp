#pragma once
#include <cstddef>
#include <vector>

namespace shardplan {

struct ErrorRange {
  double low = 0, high = 0;  ///< at most 0, at least 0
};

/// Between the 5th and the 95th percentile where there are `enough` errors, else of all; rounded outwards to a thousandth.
/// -0.0304 … 0.012 are -0.031 … 0.012.
ErrorRange error_range(std::vector<double> errors, std::size_t enough);

}  // namespace shardplan
