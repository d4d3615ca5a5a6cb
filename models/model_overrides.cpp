#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <models/check_model.hpp>
#include <models/decoder_block.hpp>
#include <models/model_fields.hpp>
#include <models/model_overrides.hpp>
#include <shardplan/error.hpp>

namespace shardplan {
namespace {

/// Which models read a key at all; MaxText ignores it silently in the others.
enum class Has {
  every_model,
  experts,
  mixtures,
  shared_experts,
  first_dense_layers,
  latent_attention,
  query_rank,
  compressed_attention,
  global_heads,
  lent_keys,
  learned_positions,
  gated_delta_net,
  indexer,
  multi_token_prediction
};

struct ModelDim {
  const char* key;
  std::int64_t Model::*member;
  Has has;
  std::int64_t least;
};

constexpr ModelDim dims[] = {
    {"base_emb_dim", &Model::emb, Has::every_model, 1},
    {"base_mlp_dim", &Model::mlp, Has::every_model, 1},
    {"base_moe_mlp_dim", &Model::moe_mlp, Has::mixtures, 1},
    {"base_num_decoder_layers", &Model::layers, Has::every_model, 1},
    {"base_num_kv_heads", &Model::kv_heads, Has::every_model, 1},
    {"base_num_query_heads", &Model::q_heads, Has::every_model, 1},
    {"first_num_dense_layers", &Model::first_dense_layers, Has::first_dense_layers, 0},
    {"first_num_hash_layers", &Model::hash_layers, Has::compressed_attention, 0},
    {"gdn_chunk_size", &Model::gdn_chunk_size, Has::gated_delta_net, 1},
    {"gdn_conv_kernel_dim", &Model::gdn_conv_kernel_dim, Has::gated_delta_net, 1},
    {"gdn_key_head_dim", &Model::gdn_key_head_dim, Has::gated_delta_net, 1},
    {"gdn_num_key_heads", &Model::gdn_num_key_heads, Has::gated_delta_net, 1},
    {"gdn_num_value_heads", &Model::gdn_num_value_heads, Has::gated_delta_net, 1},
    {"gdn_value_head_dim", &Model::gdn_value_head_dim, Has::gated_delta_net, 1},
    {"global_head_dim", &Model::global_head_dim, Has::global_heads, 0},
    {"global_num_kv_heads", &Model::global_kv_heads, Has::global_heads, 0},
    {"head_dim", &Model::head_dim, Has::every_model, 1},
    {"hidden_size_per_layer_input", &Model::per_layer_dim, Has::lent_keys, 0},
    {"indexer_head_dim", &Model::indexer_head_dim, Has::indexer, 1},
    {"indexer_n_heads", &Model::indexer_n_heads, Has::indexer, 1},
    {"indexer_topk", &Model::indexer_topk, Has::indexer, 1},
    {"kv_lora_rank", &Model::kv_lora_rank, Has::latent_attention, 1},
    {"mtp_num_layers", &Model::mtp_num_layers, Has::multi_token_prediction, 0},
    {"num_experts", &Model::num_experts, Has::experts, 2},
    {"num_experts_per_tok", &Model::top_k, Has::mixtures, 1},
    {"num_kv_shared_layers", &Model::kv_shared_layers, Has::lent_keys, 0},
    {"o_groups", &Model::o_groups, Has::compressed_attention, 1},
    {"o_lora_rank", &Model::o_lora_rank, Has::compressed_attention, 1},
    {"q_lora_rank", &Model::q_lora_rank, Has::query_rank, 0},
    {"qk_nope_head_dim", &Model::qk_nope_head_dim, Has::latent_attention, 1},
    {"qk_rope_head_dim", &Model::qk_rope_head_dim, Has::latent_attention, 1},
    {"shared_experts", &Model::shared_experts, Has::shared_experts, 0},
    {"trainable_position_size", &Model::trainable_position_size, Has::learned_positions, 1},
    {"v_head_dim", &Model::v_head_dim, Has::latent_attention, 1},
    {"vocab_size", &Model::vocab, Has::every_model, 1},
    {"vocab_size_per_layer_input", &Model::per_layer_vocab, Has::lent_keys, 0},
};

/// Switches of a layer's form: what a model file calls them and MaxText's layers heed whatever the decoder block.
struct ModelFlag {
  const char* key;
  bool Model::*member;
  bool in_files;  ///< MaxText's own file of a model says it, even to the default
  bool (*has)(const Model& model);
};

constexpr ModelFlag flags[] = {
    {"fused_mlp", &Model::fused_mlp, false, [](const Model& model) { return !model.use_batch_split_schedule; }},
    // Joint heads have no gate: MaxText would split the query in two, and its kernel refuses half of a head's width.
    {"fused_qkv", &Model::fused_qkv, false,
     [](const Model& model) {
       return model.attention_type == AttentionType::global && !model.share_kv_projections &&
              !model.decoder_block.lends_keys && !model.decoder_block.gated_attention;
     }},
    {"logits_via_embedding", &Model::tied_embedding, true, [](const Model&) { return true; }}};

const ModelFlag* find_flag(std::string_view key) {
  const auto found = std::find_if(std::begin(flags), std::end(flags), [&](const auto& flag) { return flag.key == key; });
  return found == std::end(flags) ? nullptr : found;
}

constexpr std::string_view window_keys[] = {"chunk_attn_window_size", "sliding_window_size"};

bool is_window_key(std::string_view key) {
  return std::find(std::begin(window_keys), std::end(window_keys), key) != std::end(window_keys);
}

const ModelDim* find_dim(std::string_view key) {
  const auto found = std::find_if(std::begin(dims), std::end(dims), [&](const auto& dim) { return dim.key == key; });
  return found == std::end(dims) ? nullptr : found;
}

bool applies(Has has, const Model& model) {
  switch (has) {
    case Has::every_model:
      return true;
    case Has::experts:
    case Has::mixtures:
      return model.has_experts();
    case Has::shared_experts:
      return model.has_experts() && model.decoder_block.shared_experts;
    case Has::first_dense_layers:
      return model.decoder_block.dense_layers_before_pipeline;
    case Has::latent_attention:
      return model.attention_type == AttentionType::mla;
    case Has::query_rank:
      return model.attention_type != AttentionType::global;
    case Has::compressed_attention:
      return model.decoder_block.compressed_attention;
    case Has::global_heads:
      return model.decoder_block.global_heads;
    case Has::lent_keys:
      return model.decoder_block.lends_keys;
    case Has::learned_positions:
      return model.trainable_position_size > 0;
    case Has::gated_delta_net:
      return model.decoder_block.gated_delta_net;
    case Has::indexer:
      return model.masks_keys();
    case Has::multi_token_prediction:
      return !no_predicting_layer(model);
  }
  throw InternalError("unknown Has");
}

/// Whether nothing in MaxText but what lacks here reads the dims: layers/attention_mla.py, attention_compressed.py (which
/// rotates qk_rope_head_dim of its heads), moe.py, models/qwen3.py, gemma4.py. The number of experts and dense layers in
/// front of them are in checks of configs/types.py, learned positions and predicting layers in every decoder, and lent
/// keys beside fused_qkv.
bool is_read_only_by(Has has, const Model& model) {
  switch (has) {
    case Has::latent_attention:
    case Has::query_rank:
      return model.attention_type == AttentionType::global;
    case Has::mixtures:
    case Has::shared_experts:
    case Has::compressed_attention:
    case Has::global_heads:
    case Has::gated_delta_net:
    case Has::indexer:
      return true;
    case Has::every_model:
    case Has::experts:
    case Has::first_dense_layers:
    case Has::lent_keys:
    case Has::learned_positions:
    case Has::multi_token_prediction:
      return false;
  }
  throw InternalError("unknown Has");
}

/// Positions are learned where a model's file says so; no argument makes them of others.
bool is_of_files_alone(std::string_view key) {
  const ModelDim* dim = find_dim(key);
  return dim && dim->has == Has::learned_positions;
}

void check_override(const Model& model, const std::string& key, std::int64_t value, std::int64_t least) {
  if (const auto none = no_predicting_layer(model); key == "mtp_num_layers" && none)
    throw InputError(fmt::format("{}: model {}: {}: leave it out", key, model.name, *none));
  if (!has_dim(model, key))
    throw InputError(fmt::format("{}: model {} has no such dim, or it isn't modelled there{}", key, model.name,
                                 is_of_files_alone(key) ? "; a model file says it: give --model FILE, beside a command that "
                                                          "was printed of it, too"
                                                        : ""));
  if (value < least) throw InputError(fmt::format("{}: must be at least {}, not {}", key, least, value));
}

}  // namespace

bool is_model_flag(std::string_view key) { return find_flag(key) != nullptr; }

bool is_flag_of_model_files(std::string_view key) {
  const ModelFlag* flag = find_flag(key);
  return flag && flag->in_files;
}

std::string_view impossible_flag(const Model& model) {
  const auto found = std::find_if(std::begin(flags), std::end(flags),
                                  [&](const ModelFlag& flag) { return model.*flag.member && !flag.has(model); });
  return found == std::end(flags) ? std::string_view{} : found->key;
}

std::string override_text(const ModelOverride& changed) {
  const auto& [key, value] = changed;
  return is_model_flag(key) ? (value != 0 ? "true" : "false") : fmt::to_string(value);
}

bool is_model_dim(std::string_view key) { return is_window_key(key) || find_dim(key) != nullptr; }

bool has_dim(const Model& model, std::string_view key) {
  if (is_window_key(key)) return model.attention_pattern.window > 0 && key == window_key(model.decoder_block);
  const auto* dim = find_dim(key);
  return dim && applies(dim->has, model);
}

bool is_unread_dim(const Model& model, std::string_view key) {
  if (has_dim(model, key)) return false;
  const DecoderBlock& block = model.decoder_block;
  if (is_window_key(key)) return key != window_key(block) || (block.locals_per_period == 0 && !block.free_period);
  const auto* dim = find_dim(key);
  return dim && is_read_only_by(dim->has, model);
}

std::vector<std::string> model_dims() {
  std::vector<std::string> keys(std::begin(window_keys), std::end(window_keys));
  for (const auto& dim : dims) keys.emplace_back(dim.key);
  std::sort(keys.begin(), keys.end());
  return keys;
}

Model with_override(Model model, const std::string& key, std::int64_t value) {
  if (is_window_key(key)) {
    check_override(model, key, value, 1);
    model.attention_pattern.window = value;
    return model;
  }
  if (const auto* flag = find_flag(key)) {
    if (!flag->has(model)) throw InputError(fmt::format("{}: the layers of model {} don't have it", key, model.name));
    model.*flag->member = value != 0;
    return model;
  }
  const auto* dim = find_dim(key);
  if (!dim) throw InputError(unknown_name("model dim", key, model_dims()));
  check_override(model, key, value, dim->least);
  model.*dim->member = value;
  // MaxText configs/types.py: qwen3_moe takes base_mlp_dim from base_moe_mlp_dim; other such models must be given both.
  if (key == "base_moe_mlp_dim" && model.decoder_block.mlp_follows_moe_mlp) model.mlp = value;
  return model;
}

Model with_overrides(Model model, const std::vector<std::pair<std::string, std::int64_t>>& overrides) {
  for (const auto& [key, value] : overrides) model = with_override(std::move(model), key, value);
  check_model(model, "model " + model.name);
  return model;
}

}  // namespace shardplan
