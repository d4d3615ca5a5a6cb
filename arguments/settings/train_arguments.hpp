#pragma once
// The settings of one run: TrainConfig from arguments, and the arguments that say it.
#include <arguments/words/given_arguments.hpp>
#include <shardplan/model.hpp>
#include <shardplan/settings.hpp>
#include <string>
#include <utility>
#include <vector>

namespace shardplan {

/// MaxText's defaults for a model, with what the model's own file sets.
TrainConfig default_train_config(const Model& model);

/// Throws InputError on a value that is malformed, out of range, or asks for a path that is not modelled. Pipeline
/// counts that are left out stay at -1 (with_pipeline_counts).
Settings read_settings(const GivenArguments& arguments, const Model& model);

/// Only what differs from `baseline`, in printing order.
std::vector<std::pair<std::string, std::string>> config_as_arguments(const TrainConfig& config,
                                                                     const TrainConfig& baseline);

/// What of a run reads the settings that not every run does.
struct SettingReaders {
  bool experts = false, sparse_experts = false, stages = false, context = false, vocabulary_tiles = false,
       quantization = false;
};

/// Every setting that something in the run reads, in printing order, and the others where they differ from `baseline`.
std::vector<std::pair<std::string, std::string>> named_as_arguments(const TrainConfig& config,
                                                                    const TrainConfig& baseline,
                                                                    const SettingReaders& readers);

/// Whether the model is planned with another value of the setting than base.yml's where nobody says one.
bool is_planned_for_model(const Model& model, const std::string& key);

}  // namespace shardplan
