#pragma once
// Every MaxText argument that shardplan knows, as tables: what it sets, or why it may be ignored, or why it must keep
// its default. Keys, defaults and what is said of them are data, maxtext_keys.json, which names the MaxText commit they
// were read from; refresh_keys.py brings it up to date. Which member of TrainConfig or Model a key is, is code
// (key_members.cpp).
#include <cstdint>
#include <limits>
#include <map>
#include <optional>
#include <shardplan/model.hpp>
#include <shardplan/settings.hpp>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace shardplan {

/// The MaxText commit whose configs/base.yml the keys and defaults are from.
struct KeySource {
  std::string repository, commit, date;
};
const KeySource& key_source();

/// Which runs a setting says something about: those whose command names it even where it is MaxText's default, so that
/// a YAML file of one's own doesn't change them.
enum class Named {
  always,
  with_experts,
  with_sparse_experts,  ///< sparse_matmul=true
  with_stages,
  with_context,           ///< the sequence is split
  with_vocabulary_tiles,  ///< num_vocab_tiling above 1
  with_quantization,
  where_changed,  ///< the default makes no other program on a mesh that fits, or MaxText warns of anything else, or it
                  ///< is a feature that is off
};

/// One member of TrainConfig.
struct SettingArgument {
  std::string key;
  SettingField field;
  std::string base_default;  ///< what base.yml says
  double least = 0;          ///< numbers: the smallest valid value; -1 also stands for "not set"
  double most = std::numeric_limits<double>::infinity();  ///< and the largest that is modelled
  Named named = Named::always;
};
std::span<const SettingArgument> setting_arguments();

/// Read by code of its own, because it is not one member of TrainConfig.
struct SpecialArgument {
  std::string key;
  std::string what;
  bool in_commands;  ///< as an IgnoredTopic's
};
std::span<const SpecialArgument> special_arguments();

/// A dim of the model, which models/model_overrides.hpp changes.
struct ModelDimArgument {
  std::string key;
  std::int64_t (*of)(const Model& model);
  std::int64_t base_default;
  bool in_every_model;  ///< every configs/models/*.yml sets it, even to the default
};
std::span<const ModelDimArgument> model_dim_arguments();

/// A property of the model that an argument may repeat but not change; switches of models and activations may be changed.
struct ArchitectureArgument {
  std::string key;
  std::string (*of)(const Model& model);
  std::string base_default;
};
std::span<const ArchitectureArgument> architecture_arguments();
/// The one of them that is a list: "[silu,linear]".
inline constexpr std::string_view activations_key = "mlp_activations";

/// Where remat_policy=custom keeps a named activation.
struct RematArgument {
  std::string key;
  std::string base_default;
};
std::span<const RematArgument> remat_arguments();

/// Changes the program in a way that shardplan does not model: only the default is accepted.
struct UnmodelledArgument {
  std::string key;
  std::string base_default;
  std::string what;
};
std::span<const UnmodelledArgument> unmodelled_arguments();

enum class ValueKind : std::uint8_t { flag, integer, number, word };

/// What MaxText takes for some ignored keys (configs/types.py): with another value no run starts.
struct IgnoredValues {
  ValueKind kind = ValueKind::word;
  double least = -std::numeric_limits<double>::infinity(), most = std::numeric_limits<double>::infinity();
  bool may_be_unset = false;       ///< None
  std::vector<std::string> words;  ///< the ones that it knows, where they are words
  std::vector<std::string> keys;
};

/// Cannot change what a train step shards, moves or keeps: accepted and ignored. Constants inside layers and kernel
/// tiles are here too; the prices of kernels are shares of peak, not functions of tile sizes.
struct IgnoredTopic {
  std::string what;
  bool in_commands;  ///< printed commands repeat them: they say what is trained, on what, or how kernels run
  std::vector<IgnoredValues> values;
  std::vector<std::string> keys;  ///< those in `values`, and others, of which whatever is said is taken
  std::map<std::string, std::string> base_defaults;  ///< of those that commands repeat and base.yml has
  std::string variable;  ///< of credentials: the reader's, in place of what was said; empty: what was said may be shown
};
std::span<const IgnoredTopic> ignored_topics();
/// What the key's values are; null where whatever is said is taken.
const IgnoredValues* ignored_values_of(const std::string& key);
/// The topic that has the key; null where it is no ignored one.
const IgnoredTopic* topic_of(const std::string& key);

/// The mesh axes that have an ici_ and a dcn_ flag; `flag` is the middle of its name, the axis' own but for stage.
/// `sequence` is still parsed, although no mesh has the axis any more.
struct AxisArgument {
  std::string axis;
  std::string flag;
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
