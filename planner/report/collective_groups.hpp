#pragma once
// The collectives of a step, summed by what they have in common, heaviest first:
//   kind        axes    where                                         times  bytes    time
//   all-gather  expert  layers/MoeBlock_0: wi_0, wi_1, wo                24  22.5 GB  251 ms
// `where` is the block of layers and the module; behind the colon its operations, those with most bytes first.
#include <shardplan/evaluation.hpp>
#include <string>
#include <vector>

namespace shardplan {

struct CollectiveGroup {
  CollectiveKind kind = CollectiveKind::all_gather;
  AxisList axes;
  std::string module;                   ///< "layers/MoeBlock_0"
  std::vector<std::string> operations;  ///< "wi_0"; empty when the module is the operation
  std::int64_t executions = 0;          ///< per step
  Bytes bytes;                          ///< per device and step
  Seconds seconds;                      ///< per step
};

/// Most seconds first, then most bytes.
std::vector<CollectiveGroup> group_collectives(const Evaluation& evaluation);

/// The groups from `first` on as one: executions, bytes and seconds only.
CollectiveGroup sum_of(const std::vector<CollectiveGroup>& groups, std::size_t first);

}  // namespace shardplan
