#pragma once
// The settings of one run: TrainConfig from arguments, and the arguments that say it.
#include <arguments/given_arguments.hpp>
#include <shardplan/compiler.hpp>
#include <shardplan/model.hpp>
#include <shardplan/train_config.hpp>
#include <string>
#include <utility>
#include <vector>

namespace shardplan {

/// MaxText's defaults for a model, with what the model's own file sets.
TrainConfig default_train_config(const Model& model);

/// Throws InputError on a value that is malformed, out of range, or asks for a path that is not modelled. Pipeline
/// counts that are left out stay at -1 (with_pipeline_counts).
TrainConfig read_train_config(const GivenArguments& arguments, const Model& model);

/// The compiler's kernels where the arguments don't say: on GPUs Transformer Engine's attention, which the partitioner
/// can split (attention=autoselected is computed whole on every device), and jax.lax.ragged_dot instead of megablox.
TrainConfig with_kernels(TrainConfig config, const Kernels& kernels, const GivenArguments& arguments);

/// The path through a mixture-of-experts layer. Throws InputError on the ones that are not modelled.
MoePath moe_path_of(const Model& model, bool sparse_matmul, bool use_ring_of_experts, double capacity_factor);

/// Only what differs from `baseline`, in printing order.
std::vector<std::pair<std::string, std::string>> config_as_arguments(const TrainConfig& config,
                                                                     const TrainConfig& baseline);

/// Whether a printed setting contradicts the model's own file, so that it needs override_model_config.
bool model_sets_setting(const Model& model, const std::string& key);

}  // namespace shardplan
