#pragma once
// What MaxText's pipelines want of layers, microbatches and batch; and layers that they can't hold.
#include <optional>
#include <shardplan/configuration.hpp>
#include <shardplan/infeasible.hpp>

namespace shardplan {

/// Whatever the remat policy.
std::optional<Infeasible> pipeline_violation(const Configuration& configuration);
std::optional<Infeasible> pipeline_policy_violation(const Configuration& configuration);

/// MaxText's stages repeat the first of a decoder's blocks (layers/decoders.py, get_pipeline_stage_module): of layers that
/// alternate one kind, of cycles that are scanned as one block as many cycles as there are layers. It would start, and train
/// another model. gemma2's pairs are its layers, deepseek's dense ones stay in front.
std::optional<Infeasible> layers_differ(const Model& model);

}  // namespace shardplan
