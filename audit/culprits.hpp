#pragma once
// Which tensors make a difference in traffic, and the words for them.
#include <audit/compare_traffic.hpp>
#include <cstdint>
#include <map>
#include <set>
#include <shardplan/collective/collective.hpp>
#include <string>
#include <vector>

namespace shardplan {

/// Extra traffic of some tensors: which, in which phases, how much.
struct Culprits {
  std::vector<std::string> tensors;  ///< heaviest first
  std::set<Phase> phases;
  Traffic traffic;
  bool output_alone = false;  ///< of expert weights: none but the experts' output projection
};

std::vector<std::string> heaviest_first(const std::map<std::string, std::int64_t>& bytes_of_tensors);

std::string phase_words(const std::set<Phase>& phases);             ///< "forward and backward"
std::string tensor_words(const std::vector<std::string>& tensors);  ///< "wi_0, wo": six at most are named

}  // namespace shardplan
