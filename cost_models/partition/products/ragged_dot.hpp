#pragma once
// Products of expert rows and expert weights: MaxText's jax.lax.ragged_dot, or a grouped kernel in its place.
#include <shardplan/bound_program.hpp>
#include <shardplan/compiler/compiler.hpp>
#include <shardplan/train_config.hpp>

namespace shardplan {

bool is_ragged_dot(const Block& block, const Operation& op);

/// Whether those of a step multiply every row with every expert of the device (Habit::ragged_dot_is_dense).
bool is_ragged_dot_dense(const Compiler& compiler, const TrainConfig& config);

/// Experts that one device has of such a product's: a whole number, but where a run is refused because it isn't.
double local_experts(const Block& block, const Operation& product, const BoundProgram& program);

}  // namespace shardplan
