#pragma once
// What MaxText refuses, or would compute wrongly, before memory and machine come into it (SHARDING.md section 6).
#include <models/programs/train_program.hpp>
#include <optional>
#include <shardplan/configuration.hpp>
#include <planner/constraints/divisibility.hpp>
#include <shardplan/evaluation.hpp>

namespace shardplan {

/// What the program of a configuration depends on besides model and settings.
ParallelShape parallel_shape(const Configuration& configuration);

/// The train step of a configuration.
Program program_of(const Configuration& configuration);

/// The first constraint that the configuration breaks, with its numbers. Weights are the engine's to check
/// (indivisible).
std::optional<Infeasible> first_violation(const Configuration& configuration);

/// The part of it that holds whatever the remat policy, of a program that is bound to its mesh; and what the policy alone
/// breaks.
std::optional<Infeasible> violation_under_every_policy(const Configuration& configuration, const BoundProgram& program);
std::optional<Infeasible> violation_of_policy(const Configuration& configuration);

/// The part of it that needs no program.
std::optional<Infeasible> first_violation_of_settings(const Configuration& configuration);

/// Of a configuration that differs in nothing but a pipeline's schedule, batch, accumulation and the optimizer's place from
/// one that breaks none of these: what it breaks of them.
std::optional<Infeasible> first_violation_of_schedule(const Configuration& configuration);

/// The part of it that given words demand (Configuration::start_conditions).
std::optional<Infeasible> argument_violation(const Configuration& configuration);

/// The part of it that concerns context parallelism (context_constraints.cpp).
std::optional<Infeasible> context_violation(const Configuration& configuration);

/// The part of it that concerns attention kernels (attention_constraints.cpp).
std::optional<Infeasible> attention_violation(const Configuration& configuration);

/// The part of it that concerns quantized products (quantization_constraints.cpp).
std::optional<Infeasible> quantization_violation(const Configuration& configuration);

/// The part of it that concerns what MaxText refuses in Linen (linen_constraints.cpp).
std::optional<Infeasible> linen_violation(const Configuration& configuration);

/// The part of it that concerns layers of multi-token prediction (token_prediction_constraints.cpp).
std::optional<Infeasible> token_prediction_violation(const Configuration& configuration);

/// The part of that which packing=false mends: packed sequences that the kernel can't split.
std::optional<Infeasible> packing_violation(const Configuration& configuration);

}  // namespace shardplan
