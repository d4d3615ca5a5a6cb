#include <algorithm>
#include <arguments/keys/argument_table.hpp>
#include <arguments/words/argument_values.hpp>
#include <array>
#include <formats/named_value.hpp>
#include <models/load_model.hpp>
#include <planner/cli/completion/key_values.hpp>
#include <planner/cli/flags/remat_flag.hpp>
#include <rules/load_rules.hpp>
#include <shardplan/train_config.hpp>

namespace shardplan {
namespace {

using Words = std::vector<std::string>;

/// By the type of the member that a setting names; none of a number.
struct SettingWords {
  Words operator()(bool TrainConfig::*) const { return {"true", "false"}; }
  Words operator()(DType TrainConfig::*) const { return names_of(std::array{DType::bf16, DType::f32, DType::f16}); }
  Words operator()(AttentionKernel TrainConfig::*) const {
    using enum AttentionKernel;
    return names_of(std::array{autoselected, dot_product, flash, cudnn_flash_te, cudnn_flash_jax});
  }
  Words operator()(ContextStrategy TrainConfig::*) const {
    using enum ContextStrategy;
    return names_of(std::array{all_gather, ring, ulysses, usp});
  }
  template <class Value>
  Words operator()(Value TrainConfig::*) const {
    return {};
  }
};

struct ValuesOfKey {
  std::string_view key;
  Words (*words)();
};

/// Of keys that are read by code of their own.
constexpr ValuesOfKey special_values[] = {
    {"model_name", model_names},
    {"custom_mesh_and_rule", rule_set_names},
    {"remat_policy", remat_words},
    {"hardware", [] { return Words{"tpu", "gpu"}; }},
    {"shard_mode", [] { return Words{"auto", "explicit"}; }},
    {"sparse_matmul", [] { return Words{"true", "false"}; }},
    {"use_ring_of_experts", [] { return Words{"true", "false"}; }},
    {"override_model_config", [] { return Words{"true", "false"}; }},
    {"opt_type",
     [] {
       using enum OptimizerType;
       return names_of(std::array{adamw, adam_pax, sgd, muon});
     }}};

bool searches(const CommandDescription& command) {
  return std::any_of(command.flags.begin(), command.flags.end(),
                     [](const FlagDescription& flag) { return flag.names.back() == "--remat"; });
}

bool is_read_by(const CommandDescription& command, const std::string& key) {
  switch (role_of(key)) {
    case ArgumentRole::setting:
    case ArgumentRole::model_dim:
    case ArgumentRole::remat:
      return true;
    case ArgumentRole::special:
    case ArgumentRole::axis:
      return key == "remat_policy" || !searches(command);
    case ArgumentRole::architecture:
    case ArgumentRole::unmodelled:
    case ArgumentRole::ignored:
      break;
  }
  return false;
}

}  // namespace

bool takes_keys(const FlagDescription& flag) { return flag.positional && flag.names.back() == "KEY=VALUE"; }

std::vector<std::string> keys_of(const CommandDescription& command) {
  Words words;
  for (const std::string& key : argument_names())
    if (is_read_by(command, key)) words.push_back(key + "=");
  return words;
}

std::vector<KeyValues> values_by_key() {
  std::vector<KeyValues> all;
  for (const auto& [key, words] : special_values) all.push_back({std::string(key), words()});
  for (const SettingArgument& row : setting_arguments())
    if (Words words = std::visit(SettingWords{}, row.field); !words.empty()) all.push_back({row.key, std::move(words)});
  for (const RematArgument& row : remat_arguments()) all.push_back({row.key, {"remat", "device", "offload"}});
  return all;
}

}  // namespace shardplan
