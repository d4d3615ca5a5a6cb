#pragma once
// Every MaxText argument that shardplan knows, as tables: what it sets, or why it may be ignored, or why it must keep
// its default. Names and defaults are MaxText's (configs/base.yml at e591f30cb).
#include <cstdint>
#include <shardplan/model.hpp>
#include <shardplan/train_config.hpp>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace shardplan {

/// The member of TrainConfig that a setting is. Its type says how the value is read and printed.
using SettingField = std::variant<bool TrainConfig::*, std::int64_t TrainConfig::*, double TrainConfig::*,
                                  DType TrainConfig::*, std::string TrainConfig::*>;

struct SettingArgument {
  std::string_view key;
  SettingField field;
  double least = 0;                     ///< numbers: the smallest valid value; -1 also stands for "not set"
  std::vector<std::string_view> words;  ///< text: the valid values
};
std::span<const SettingArgument> setting_arguments();

/// Read by code of its own, because it is not one member of TrainConfig.
struct SpecialArgument {
  std::string_view key;
  std::string_view what;
};
std::span<const SpecialArgument> special_arguments();

/// A dim of the model, which models/model_overrides.hpp changes.
struct ModelDimArgument {
  std::string_view key;
  std::int64_t (*of)(const Model& model);
  std::int64_t base_default;  ///< what base.yml says
  bool in_every_model;        ///< every configs/models/*.yml sets it, even to the default
};
std::span<const ModelDimArgument> model_dim_arguments();

/// A property of the model that an argument may repeat but not change.
struct ArchitectureArgument {
  std::string_view key;
  std::string (*of)(const Model& model);
  std::string_view base_default;
};
std::span<const ArchitectureArgument> architecture_arguments();

/// Where remat_policy=custom keeps a named activation.
struct RematArgument {
  std::string_view key;
  std::string_view base_default;
};
std::span<const RematArgument> remat_arguments();

/// Changes the program in a way that shardplan does not model: only the default is accepted.
struct UnmodelledArgument {
  std::string_view key;
  std::string_view base_default;
  std::string_view what;
};
std::span<const UnmodelledArgument> unmodelled_arguments();

/// Cannot change shapes, shardings or collectives: accepted and ignored.
struct IgnoredTopic {
  std::string_view what;
  std::string_view keys;  ///< separated by spaces
};
std::span<const IgnoredTopic> ignored_topics();

/// The mesh axes that have an ici_ and a dcn_ flag; `flag` is the middle of its name.
struct AxisArgument {
  std::string_view axis;
  std::string_view flag;
};
std::span<const AxisArgument> axis_arguments();
/// "ici_pipeline_parallelism" for ("ici", "stage"). Throws InputError on an axis without flags.
std::string axis_key(std::string_view network, std::string_view axis);

enum class ArgumentRole { setting, special, model_dim, architecture, remat, axis, unmodelled, ignored };

/// Throws InputError, with the nearest names, on a key that MaxText has not.
ArgumentRole role_of(const std::string& key);
/// Every key, alphabetical.
const std::vector<std::string>& argument_names();

}  // namespace shardplan
