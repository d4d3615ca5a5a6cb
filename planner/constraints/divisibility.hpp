#pragma once
// Whether dims divide into the shards that the rules ask for. JAX refuses a sharding whose shards would be unequal.
#include <optional>
#include <shardplan/bound_program.hpp>
#include <shardplan/evaluation.hpp>

namespace shardplan {

/// The first dim of a block's tensor that its axes don't divide: constraint "indivisible-dim". The spec may have fewer
/// dims.
std::optional<Infeasible> indivisible(const Block& block, const Tensor& tensor, const PartitionSpec& spec,
                                      const Mesh& mesh);

/// The same for the activations that the program constrains: "batch-divisibility", "sequence-divisibility", or
/// "indivisible-dim" for the other dims.
std::optional<Infeasible> indivisible_activation(const BoundProgram& program);

}  // namespace shardplan
