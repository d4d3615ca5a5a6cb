#pragma once
// Whether dims divide into the shards that the rules ask for, each over axes of its own. JAX refuses other shardings.
#include <optional>
#include <shardplan/bound_program.hpp>
#include <shardplan/evaluation.hpp>

namespace shardplan {

/// The first dim of a block's tensor that its axes don't divide: constraint "indivisible-dim". The spec may have fewer
/// dims.
std::optional<Infeasible> indivisible(const Block& block, const Tensor& tensor, const PartitionSpec& spec,
                                      const Mesh& mesh);

/// The first activation that the program constrains whose sharding JAX refuses: an axis on two dims, which only specs have
/// that resolve each dim by itself ("dispatch-names-axis-twice"), or shards that would be unequal ("batch-divisibility",
/// "sequence-divisibility", or "indivisible-dim" for the other dims).
std::optional<Infeasible> refused_activation(const BoundProgram& program);

}  // namespace shardplan
