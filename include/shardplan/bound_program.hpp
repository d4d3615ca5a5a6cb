#pragma once
// A program whose constraints have been resolved on a mesh.
#include <optional>
#include <shardplan/program.hpp>

namespace shardplan {

struct BoundBlock {
  const Block* block = nullptr;
  std::vector<std::optional<PartitionSpec>> specs;  ///< one a tensor; empty: unconstrained
};

struct BoundProgram {
  const Program* program = nullptr;
  const Mesh* mesh = nullptr;
  std::vector<BoundBlock> blocks;
  AxisList expert_axes;  ///< of rule `exp`
  AxisList stage_axes;   ///< of rule `layers`
};

}  // namespace shardplan
