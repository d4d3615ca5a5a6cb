#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <formats/print_json.hpp>
#include <models/huggingface/notes.hpp>
#include <models/huggingface/positions.hpp>
#include <nlohmann/json.hpp>
#include <optional>
#include <shardplan/error.hpp>
#include <string_view>

namespace shardplan {
namespace {

enum class Values : std::uint8_t { any, positive, scoring };

/// What MaxText makes scores of (layers/moe.py).
constexpr std::string_view scorings[] = {"softmax", "sigmoid", "sqrtsoftplus"};

struct Renamed {
  const char* key;
  const char* maxtext;
  Values values = Values::any;   ///< what its values are, or null
  bool Model::*given = nullptr;  ///< what of it matters here: that it is there
};

/// MaxText's keys (configs/types.py) for values that change what a layer computes and, as numbers, nothing that it costs.
constexpr Renamed inner_keys[] = {{"rope_theta", "rope_max_timescale", Values::positive},
                                  {"rope_local_base_freq", "local_rope_max_timescale", Values::positive},
                                  {"rms_norm_eps", "normalization_layer_epsilon", Values::positive},
                                  {"final_logit_softcapping", "final_logits_soft_cap", Values::any, &Model::caps_logits},
                                  {"attn_logit_softcapping", "attn_logits_soft_cap", Values::any, &Model::caps_scores},
                                  {"routed_scaling_factor", "routed_scaling_factor", Values::positive},
                                  {"norm_topk_prob", "norm_topk_prob"},
                                  {"scoring_func", "routed_score_func", Values::scoring},
                                  {"n_group", "n_routing_groups", Values::positive},
                                  {"topk_group", "topk_routing_group", Values::positive},
                                  {"hc_sinkhorn_iters", "sinkhorn_iterations", Values::positive},
                                  {"compress_rope_theta", "compressed_rope_max_timescale", Values::positive}};

struct LeftOut {
  const char* key;
  const char* reason;
  std::optional<double> maxtexts = {};  ///< what MaxText does anyway: nothing is left out then
};

constexpr const char* no_prediction_layers =
    "the multi-token prediction layers are left out, as in MaxText's configurations (mtp_num_layers=1 adds one)";

constexpr const char* other_scaling =
    "left out: MaxText scales positions as llama3.1 and YaRN do, linearly, and not at all; it costs nothing";

/// Of an architecture without experts they say that its layers are not what is read.
constexpr std::string_view expert_keys[] = {"num_experts",       "num_local_experts", "n_routed_experts",
                                            "n_shared_experts",  "moe_num_experts",   "num_experts_per_tok",
                                            "top_k_experts",     "moe_layer_freq",    "moe_intermediate_size",
                                            "enable_moe_block",  "moe_layers",        "expert_intermediate_size",
                                            "moe_ffn_hidden_size", "shared_expert_intermediate_size"};

constexpr const char* tower = "the tower is left out: planned is the text decoder";

constexpr LeftOut left_out_keys[] = {
    {"vision_config", tower},
    {"audio_config", tower},
    {"quantization_config", "how the checkpoint stores its weights; planned is training in dtype and weight_dtype"},
    {"num_nextn_predict_layers", no_prediction_layers},
    {"mtp_num_hidden_layers", no_prediction_layers},
    {"rope_scaling", other_scaling},
    {"rope_parameters", other_scaling},
    {"sliding_window", "left out: MaxText attends globally here"},
    {"use_bidirectional_attention", "left out: MaxText's decoders attend to earlier tokens alone"},
    {"attention_dropout", "dropout is not modelled"},
    {"residual_dropout", "dropout is not modelled"},
    {"router_aux_loss_coef", "left out of the arguments: load_balance_loss_weight in MaxText; it costs nothing"},
    {"partial_rotary_factor", "left out: MaxText rotates whole heads here; it costs nothing", 1},
    {"swiglu_limit", "left out of the arguments: mlp_activations_limit in MaxText; it costs nothing"},
    {"query_pre_attn_scalar", "left out: MaxText takes it from the model's name; it costs nothing"}};

/// Keys about tokens, initialization, caches and the file itself, by how they end or whole.
constexpr std::string_view harmless_endings[] = {"_token_id", "_token", "_range", "_version", "use_cache", "dtype",
                                                 "output_router_logits", "_token_index"};
constexpr std::string_view harmless_keys[] = {"architectures", "model_type", "auto_map", "pretraining_tp",
                                              "max_position_embeddings", "_name_or_path", "initializer_factor", "ep_size",
                                              "seq_aux", "aux_loss_alpha", "topk_method", "router_jitter_noise",
                                              "max_window_layers", "layer_types", "cache_implementation",
                                              "experts_per_token", "initial_context_length", "output_attentions",
                                              "original_max_position_embeddings", "mm_tokens_per_image",
                                              "multimodal_projector_bias", "projector_hidden_act", "spatial_merge_size",
                                              "vision_feature_layer", "vision_soft_tokens_per_image", "hc_eps",
                                              "_attn_implementation", "_attn_implementation_autoset", "tokenizer_class"};

bool is_harmless(std::string_view key) {
  const auto ends = [&](std::string_view ending) { return key.ends_with(ending); };
  return std::any_of(std::begin(harmless_endings), std::end(harmless_endings), ends) ||
         std::find(std::begin(harmless_keys), std::end(harmless_keys), key) != std::end(harmless_keys);
}

bool speaks_of_experts(std::string_view key) {
  return std::find(std::begin(expert_keys), std::end(expert_keys), key) != std::end(expert_keys);
}

bool says_what_maxtext_does(const LeftOut& row, const nlohmann::json& value) {
  return row.maxtexts && value.is_number() && value.get<double>() == *row.maxtexts;
}

/// null, false, 0 and an empty list say that there is nothing.
bool says_nothing(const nlohmann::json& value) {
  return value.is_null() || value.empty() || (value.is_boolean() && !value.get<bool>()) ||
         (value.is_number() && value.get<double>() == 0);
}

/// "fp8": what the checkpoint's own method is called.
std::string method_of(const StrictObject& config, const std::string& key, const nlohmann::json& value) {
  const bool named = value.is_object() && value.contains("quant_method") && value["quant_method"].is_string();
  return named ? fmt::format(" ({})", config.checked(key, value["quant_method"].get<std::string>())) : "";
}

void check_inner_value(const StrictObject& config, const std::string& key, Values values, const nlohmann::json& value) {
  if (value.is_null()) return;
  if (values == Values::positive && !(value.is_number() && value.get<double>() > 0)) config.fail(key, "a number above 0");
  if (values == Values::scoring && std::find(std::begin(scorings), std::end(scorings), value) == std::end(scorings))
    config.fail(key, fmt::format("one of {}", fmt::join(scorings, ", ")));
}

Model with_inner_values(Model model, StrictObject& config) {
  for (const auto& [key, maxtext, values, given] : inner_keys)
    if (config.has(key)) {
      const auto& value = config.any(key);
      check_inner_value(config, key, values, value);
      if (given) model.*given = value.is_number() && value.get<double>() > 0;
      if (given && value.is_null()) model.inner_values.emplace_back(maxtext, "0");  // MaxText's nearest model may cap
      if (value.is_number() || value.is_boolean() || value.is_string())
        model.inner_values.emplace_back(maxtext, config.checked(key, argument_text(value)));
    }
  if (config.has("rope_parameters"))  // transformers 5
    if (const auto& rope = config.peek("rope_parameters");
        !config.has("rope_theta") && rope.is_object() && rope.contains("rope_theta"))
      model.inner_values.emplace_back("rope_max_timescale", argument_text(rope["rope_theta"]));
  return model;
}

}  // namespace

std::string argument_text(const nlohmann::json& value) {
  if (value.is_string()) return value.get<std::string>();
  if (!value.is_number_float()) return print_json(value);
  const double number = value.get<double>();
  return number == std::floor(number) && std::abs(number) < 1e15 ? fmt::format("{:.0f}", number)
                                                                 : fmt::format("{}", number);
}

Model with_notes(Model model, StrictObject& config) {
  model = huggingface::with_positions(with_inner_values(std::move(model), config), config);
  const auto untaken = config.untaken();
  std::vector<std::string> missed = config.asked();
  std::erase_if(missed, [&](const std::string& key) { return config.has(key); });
  std::vector<std::string> unread;
  for (const std::string& key : untaken) {
    const auto& value = config.any(key);
    const auto known = std::find_if(std::begin(left_out_keys), std::end(left_out_keys),
                                    [&](const LeftOut& row) { return key == row.key; });
    if (says_nothing(value) || is_harmless(key)) continue;
    if (known != std::end(left_out_keys) && says_what_maxtext_does(*known, value)) continue;
    if (known != std::end(left_out_keys))
      model.left_out.push_back({key + method_of(config, key, value), known->reason});
    else if (!model.has_experts() && speaks_of_experts(key))
      config.fail(key, "absent: layers of this architecture have no experts");
    else
      unread.push_back(key);
  }
  for (const std::string& key : unread) {
    const auto nearest = nearest_names(key, missed, 1);
    model.left_out.push_back({key, nearest.empty() ? "not read" : "not read; nearest: " + nearest.front()});
  }
  return model;
}

}  // namespace shardplan
