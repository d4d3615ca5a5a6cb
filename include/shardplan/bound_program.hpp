#pragma once
// A program whose constraints have been resolved on a mesh.
#include <optional>
#include <shardplan/program.hpp>
#include <span>

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

/// A program and where its tensors ended up: what it takes to say in words what a collective is about.
struct LaidOutProgram {
  Program program;
  std::vector<std::vector<PartitionSpec>> specs;  ///< of each block, one a tensor; propagation done
};

/// The same, borrowed.
struct LayoutView {
  const Program& program;
  std::vector<std::span<const PartitionSpec>> specs;
};

}  // namespace shardplan
