#pragma once
// The mesh axes that a plan of its own accord gives a size. The others stay at 1 unless they are asked for: replicas of
// DiLoCo, inference's axes, and the second context factor, which needs context_parallel_strategy=usp. Stages need more
// than a size.
#include <shardplan/model.hpp>
#include <string_view>

namespace shardplan {

struct SearchedAxis {
  std::string_view name;
  bool beside_stages = false;  ///< a limit of the search, no fact
  bool splits_again = false;   ///< the dims that another axis of the list has split
};

/// Null where it is none of them, or would repeat what another does: experts' without experts is fsdp, context or tensor.
const SearchedAxis* searched_axis(std::string_view name, const Model& model);

}  // namespace shardplan
