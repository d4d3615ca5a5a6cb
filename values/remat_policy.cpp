// What each remat policy saves. Source: SHARDING.md section 4 (MaxText decoders' policy table).
#include <fmt/format.h>

#include <algorithm>
#include <shardplan/error.hpp>
#include <shardplan/train_config.hpp>

namespace shardplan {
namespace {

using Saved = std::map<std::string, SavePlace>;

Saved on(SavePlace place, std::initializer_list<const char*> names) {
  Saved saved;
  for (const char* name : names) saved[name] = place;
  return saved;
}

const std::map<std::string, Saved>& table() {
  constexpr auto device = SavePlace::device;
  constexpr auto host = SavePlace::host;
  static const std::map<std::string, Saved> policies = {
      {"full", {}},
      {"save_out_proj", on(device, {"out_proj"})},
      {"save_qkv_proj", on(device, {"query_proj", "key_proj", "value_proj", "qkv_proj"})},
      {"save_dot_except_mlp", on(device, {"query_proj", "key_proj", "value_proj", "qkv_proj", "out_proj"})},
      {"save_dot_with_context_except_mlp",
       on(device, {"query_proj", "key_proj", "value_proj", "qkv_proj", "out_proj", "context"})},
      {"save_dot_except_mlpwi", on(device, {"query_proj", "key_proj", "value_proj", "qkv_proj", "out_proj", "mlpwo"})},
      {"minimal", on(device, {"query_proj", "key_proj", "value_proj", "qkv_proj", "out_proj", "mlpwi_0", "mlpwi_1",
                              "mlpwi", "mlpwo"})},
      {"minimal_with_context", on(device, {"query_proj", "key_proj", "value_proj", "qkv_proj", "out_proj", "mlpwi_0",
                                           "mlpwi_1", "mlpwi", "mlpwo", "context"})},
      {"qkv_proj_offloaded", on(host, {"query_proj", "key_proj", "value_proj"})},
      {"minimal_offloaded", on(host, {"query_proj", "key_proj", "value_proj", "qkv_proj", "out_proj", "mlpwi_0",
                                      "mlpwi_1", "mlpwi", "mlpwo"})},
  };
  return policies;
}

/// Other names of these (layers/nnx_decoders.py, get_remat_policy). A scan's body is given to jax.checkpoint whatever the
/// policy, so that none is full (compiled: one program); what is named `quantization` Transformer Engine alone makes.
const std::map<std::string, std::string>& same_as() {
  static const std::map<std::string, std::string> names = {
      {"minimal_flash", "minimal_with_context"},
      {"none", "full"},
      {"minimal_with_quantization", "minimal"},
      {"minimal_with_context_and_quantization", "minimal_with_context"}};
  return names;
}

}  // namespace

const std::vector<std::string>& remat_policies() {
  static const std::vector<std::string> names = {"full",
                                                 "qkv_proj_offloaded",
                                                 "minimal_offloaded",
                                                 "save_out_proj",
                                                 "save_qkv_proj",
                                                 "save_dot_except_mlp",
                                                 "save_dot_with_context_except_mlp",
                                                 "save_dot_except_mlpwi",
                                                 "minimal",
                                                 "minimal_with_context"};
  return names;
}

bool is_remat_policy(const std::string& name) { return table().contains(name) || same_as().contains(name); }

std::vector<std::string> all_remat_policies() {
  std::vector<std::string> names = remat_policies();
  for (const auto& [name, same] : same_as()) names.push_back(name);
  names.emplace_back("custom");
  return names;
}

std::map<std::string, SavePlace> saved_by_policy(const std::string& policy) {
  if (!is_remat_policy(policy)) throw InputError("remat_policy: " + unknown_name("policy", policy, all_remat_policies()));
  const auto same = same_as().find(policy);
  return table().at(same == same_as().end() ? policy : same->second);
}

std::vector<RematPolicy> named_remat_policies(const std::vector<std::string>& names) {
  std::vector<RematPolicy> policies;
  for (const auto& name : names) policies.push_back({name, saved_by_policy(name), false});
  return policies;
}

RematPolicy offloaded_layer_inputs() { return {"custom", {{"decoder_layer_input", SavePlace::host}}, true}; }

void set_remat(TrainConfig& config, const RematPolicy& policy) {
  config.saved = policy.saved;
  config.remat_policy = policy.name;
  config.places_activations = policy.places_activations;
}

bool runs_in_pipelines(const RematPolicy& policy) { return policy.places_activations || !policy.offloads(); }

bool offloads(const std::map<std::string, SavePlace>& saved) {
  return std::any_of(saved.begin(), saved.end(), [](const auto& entry) { return entry.second == SavePlace::host; });
}

}  // namespace shardplan
