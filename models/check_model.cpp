#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <models/check_model.hpp>
#include <models/decoder_block.hpp>
#include <models/model_fields.hpp>
#include <models/model_overrides.hpp>
#include <models/parameter_count.hpp>
#include <shardplan/error.hpp>
#include <utility>

namespace shardplan {
namespace {

struct NamedSize {
  const char* name;
  std::int64_t value;
};

/// What a check says when it fails; the place is put in front of it.
void require(bool holds, const std::string& place, const std::string& message) {
  if (!holds) throw InputError(place + ": " + message);
}

void require_positive(std::initializer_list<NamedSize> dims, const std::string& place) {
  for (const auto& dim : dims)
    require(dim.value >= 1, place, fmt::format("{} must be at least 1, not {}", dim.name, dim.value));
}

void require_not_negative(std::initializer_list<NamedSize> dims, const std::string& place) {
  for (const auto& dim : dims)
    require(dim.value >= 0, place, fmt::format("{} must not be negative, and is {}", dim.name, dim.value));
}

/// Of a token, streams or heads of an n-gram: published models have 4 and 8. Matrices grow with the cube of the streams.
constexpr std::int64_t most_parts = 1024;

void require_at_most(std::int64_t most, std::initializer_list<NamedSize> dims, const std::string& place) {
  for (const auto& dim : dims)
    require(dim.value <= most, place, fmt::format("{} must be at most {}, not {}", dim.name, most, dim.value));
}

void check_dims(const Model& model, const std::string& place) {
  require_positive({{"layers", model.layers},
                    {"sublayers_per_layer", model.sublayers_per_layer},
                    {"emb", model.emb},
                    {"q_heads", model.q_heads},
                    {"kv_heads", model.kv_heads},
                    {"head_dim", model.head_dim},
                    {"mlp", model.mlp},
                    {"vocab", model.vocab},
                    {"num_experts", model.num_experts},
                    {"top_k", model.top_k},
                    {"interleave_moe_step", model.interleave_moe_step},
                    {"cycle_interval", model.cycle_interval},
                    {"max_target_length", model.max_target_length}},
                   place);
  require_not_negative({{"shared_experts", model.shared_experts},
                        {"first_dense_layers", model.first_dense_layers},
                        {"q_lora_rank", model.q_lora_rank},
                        {"global_head_dim", model.global_head_dim},
                        {"global_kv_heads", model.global_kv_heads},
                        {"kv_shared_layers", model.kv_shared_layers},
                        {"per_layer_dim", model.per_layer_dim},
                        {"per_layer_vocab", model.per_layer_vocab},
                        {"trainable_position_size", model.trainable_position_size}},
                       place);
}

/// MaxText layers/embeddings.py: a rotation turns two halves of a head.
void check_rotated(const Model& model, const std::string& place) {
  const bool latent = model.attention_type == AttentionType::mla;
  const NamedSize widths[] = {
      latent ? NamedSize{"qk_rope_head_dim", model.qk_rope_head_dim} : NamedSize{"head_dim", model.head_dim},
      {"global_head_dim", model.global_head_dim}};
  const bool rotates_a_part = model.decoder_block.compressed_attention;  // of 64 features, whatever head_dim is
  if (model.trainable_position_size > 0 || rotates_a_part) return;       // learned positions turn nothing
  for (const auto& width : widths)
    require(width.value % 2 == 0, place,
            fmt::format("{} must be even, not {}: positions rotate its two halves", width.name, width.value));
}

void check_heads(const Model& model, const std::string& place) {
  require(model.q_heads % model.kv_heads == 0, place,
          fmt::format("q_heads={} must be a multiple of kv_heads={}", model.q_heads, model.kv_heads));
  const std::int64_t global = std::max<std::int64_t>(model.global_kv_heads, 1);
  require(model.q_heads % global == 0, place,
          fmt::format("q_heads={} must be a multiple of global_kv_heads={}", model.q_heads, global));
  if (model.attention_type != AttentionType::mla) return;
  // MaxText layers/attention_mla.py: latent attention has no grouped heads.
  require(model.q_heads == model.kv_heads, place,
          fmt::format("mla attention needs q_heads={} and kv_heads={} to be equal", model.q_heads, model.kv_heads));
  require_positive({{"kv_lora_rank", model.kv_lora_rank},
                    {"qk_nope_head_dim", model.qk_nope_head_dim},
                    {"qk_rope_head_dim", model.qk_rope_head_dim},
                    {"v_head_dim", model.v_head_dim}},
                   place);
}

/// A window belongs to layers that use it: both numbers are given or neither.
void check_attention_pattern(const Model& model, const std::string& place) {
  const auto& pattern = model.attention_pattern;
  require_not_negative(
      {{"sliding_window_size", pattern.window}, {"local_layers_per_global", pattern.locals_per_period}}, place);
  if (model.decoder_block.compressed_attention) return require_positive({{"sliding_window_size", pattern.window}}, place);
  require((pattern.window > 0) == (pattern.locals_per_period > 0), place,
          fmt::format("{}={} and local_layers_per_global={} must both be above 0 or both be left out",
                      window_key(model.decoder_block), pattern.window, pattern.locals_per_period));
}

void check_per_layer_inputs(const Model& model, const std::string& place) {
  require((model.per_layer_dim > 0) == (model.per_layer_vocab > 0), place,
          fmt::format("per_layer_dim={} and per_layer_vocab={} must both be above 0 or both be left out",
                      model.per_layer_dim, model.per_layer_vocab));
}

/// MaxText configs/types.py: such a model builds its experts from base_mlp_dim.
bool is_fully_moe(const Model& model) { return model.interleave_moe_step == 1 && model.first_dense_layers == 0; }

void check_experts(const Model& model, const std::string& place) {
  require(
      model.moe_mlp >= 1, place,
      fmt::format("moe_mlp must be at least 1 in a model with {} experts, not {}", model.num_experts, model.moe_mlp));
  require(model.top_k <= model.num_experts, place,
          fmt::format("top_k={} is more than num_experts={}", model.top_k, model.num_experts));
  require(model.capacity_factor <= static_cast<double>(model.num_experts), place,
          fmt::format("capacity_factor={:g}: more than num_experts={} only pads buffers", model.capacity_factor,
                      model.num_experts));
  require(model.first_dense_layers < model.layers, place,
          fmt::format("first_dense_layers={} leaves none of {} layers for experts", model.first_dense_layers,
                      model.layers));
  require(
      model.layers % model.interleave_moe_step == 0, place,
      fmt::format("layers={} must be a multiple of interleave_moe_step={}", model.layers, model.interleave_moe_step));
  const bool own_width = model.decoder_block.free_moe_width;  // exempt in MaxText too
  require(!is_fully_moe(model) || own_width || model.mlp == model.moe_mlp, place,
          fmt::format("every layer has experts, so mlp={} must equal moe_mlp={}", model.mlp, model.moe_mlp));
}

/// models/gemma4.py: the dense branch beside its experts is what shared_experts widen.
void check_dense_branch(const Model& model, const DecoderBlock& block, const std::string& place) {
  require(!block.dense_beside_experts || !model.has_experts() || model.shared_experts >= 1, place,
          fmt::format("decoder block '{}' needs shared_experts of at least 1 beside its experts, not {}", block.name,
                      model.shared_experts));
}

/// Other blocks' decoders make layers of one kind, or in cycles, and never read first_num_dense_layers.
void check_first_dense_layers(const Model& model, const DecoderBlock& block, const std::string& place) {
  require(model.first_dense_layers == 0 || block.dense_layers_before_pipeline, place,
          fmt::format("first_dense_layers: the layers of decoder block '{}' don't have it", block.name));
}

/// Of a file as of arguments.
void check_flags(const Model& model, const DecoderBlock& block, const std::string& place) {
  const std::string_view flag = impossible_flag(model);
  require(flag.empty(), place, fmt::format("{}: the layers of decoder block '{}' don't have it", flag, block.name));
}

/// What the block's code fixes, whatever a configuration says.
void check_block_structure(const Model& model, const DecoderBlock& block, const std::string& place) {
  const int locals = model.attention_pattern.locals_per_period;
  require(block.free_period || locals == block.locals_per_period, place,
          fmt::format("decoder block '{}' has local_layers_per_global={}, not {}", block.name, block.locals_per_period,
                      locals));
  require(!model.has_experts() || block.interleaves_experts || model.interleave_moe_step == 1, place,
          fmt::format("decoder block '{}' has interleave_moe_step=1, not {}", block.name, model.interleave_moe_step));
  require(model.sublayers_per_layer == block.sublayers_per_layer, place,
          fmt::format("decoder block '{}' has sublayers_per_layer={}, not {}", block.name, block.sublayers_per_layer,
                      model.sublayers_per_layer));
}

/// models/qwen3_custom.py: its layers are built around that width.
void check_attention_output(const Model& model, const std::string& place) {
  if (model.decoder_block.shape == LayerShape::attention_into_experts)
    require_positive({{"attention_output_dim", model.attention_output_dim}}, place);
}

/// Linear layers and, at the end of each cycle, one of full attention.
void check_delta_nets(const Model& model, const std::string& place) {
  require(model.cycle_interval > 1, place, "cycle_interval must be at least 2: the last layer of a cycle has attention");
  require_positive({{"gdn_conv_kernel_dim", model.gdn_conv_kernel_dim},
                    {"gdn_key_head_dim", model.gdn_key_head_dim},
                    {"gdn_value_head_dim", model.gdn_value_head_dim},
                    {"gdn_num_key_heads", model.gdn_num_key_heads},
                    {"gdn_num_value_heads", model.gdn_num_value_heads},
                    {"gdn_chunk_size", model.gdn_chunk_size}},
                   place);
  require(model.gdn_num_value_heads % model.gdn_num_key_heads == 0, place,
          fmt::format("gdn_num_value_heads={} must be a multiple of gdn_num_key_heads={}", model.gdn_num_value_heads,
                      model.gdn_num_key_heads));
}

/// MaxText layers/attention_compressed.py and models/deepseek4.py.
void check_compressed_attention(const Model& model, const std::string& place) {
  require((model.attention_type == AttentionType::compressed) == model.decoder_block.compressed_attention, place,
          fmt::format("decoder block '{}' has attention_type={}", model.decoder_block.name,
                      model.decoder_block.compressed_attention ? "compressed" : "global or mla"));
  if (!model.decoder_block.compressed_attention) return;
  require_positive({{"q_lora_rank", model.q_lora_rank}, {"o_groups", model.o_groups}, {"o_lora_rank", model.o_lora_rank}},
                   place);
  require(model.q_heads % model.o_groups == 0, place,
          fmt::format("q_heads={} must be a multiple of o_groups={}", model.q_heads, model.o_groups));
  require(std::cmp_greater_equal(model.compress_ratios.size(), model.hash_layers), place,
          fmt::format("compress_ratios names {} layers, fewer than hash_layers={}", model.compress_ratios.size(),
                      model.hash_layers));
  require(model.hash_layers <= model.layers && (model.layers - model.hash_layers) % 2 == 0, place,
          fmt::format("behind hash_layers={} layers come in pairs, and layers={}", model.hash_layers, model.layers));
}

/// layers/engram.py. What is looked up are rows of one table, by integers of 32 bits.
void check_n_grams(const Model& model, const std::string& place) {
  require(model.decoder_block.n_gram_memory && model.mhc_expansion_rate > 1, place,
          "engram_layers: only decoder block 'deepseek' with mhc_expansion_rate above 1 has them");
  require(!model.engram_vocab_bases.empty(), place, "engram_layers need engram_vocab_bases");
  require_positive({{"engram_num_heads", model.engram_num_heads},
                    {"engram_head_dim", model.engram_head_dim},
                    {"engram_kernel_size", model.engram_kernel_size}},
                   place);
  require_at_most(most_parts, {{"engram_num_heads", model.engram_num_heads}}, place);
  double rows = 0;
  for (const std::int64_t base : model.engram_vocab_bases)
    rows += static_cast<double>(base) * static_cast<double>(model.engram_num_heads);
  require(rows < static_cast<double>(std::numeric_limits<std::int32_t>::max()), place,
          fmt::format("engram_vocab_bases of {} heads make a table of {:.1e} rows; integers of 32 bits name them",
                      model.engram_num_heads, rows));
  for (const std::int64_t layer : model.engram_layers)
    require(layer < model.layers, place, fmt::format("engram_layers has {}, and the last of {} layers is {}", layer,
                                                     model.layers, model.layers - 1));
}

/// layers/mhc.py.
void check_streams(const Model& model, const std::string& place) {
  require_positive({{"mhc_expansion_rate", model.mhc_expansion_rate}}, place);
  require_at_most(most_parts, {{"mhc_expansion_rate", model.mhc_expansion_rate}}, place);
  require(model.mhc_expansion_rate == 1 || model.decoder_block.hyper_connections, place,
          fmt::format("mhc_expansion_rate={}: decoder block '{}' has no hyper-connections", model.mhc_expansion_rate,
                      model.decoder_block.name));
  require(!model.decoder_block.compressed_attention || model.mhc_expansion_rate > 1, place,
          fmt::format("decoder block '{}' needs mhc_expansion_rate of at least 2", model.decoder_block.name));
  if (!model.engram_layers.empty()) check_n_grams(model, place);
}

/// layers/attention_mla.py: the indexer's queries come from the same low rank.
void check_indexer(const Model& model, const std::string& place) {
  if (model.use_indexer) require_positive({{"q_lora_rank", model.q_lora_rank}}, place);
}

/// models/deepseek_batchsplit.py names what its layers have; configs/types.py knows no such layers of other kinds.
void check_batch_split(const Model& model, const std::string& place) {
  if (!model.use_batch_split_schedule) return;
  require(model.decoder_block.batch_split, place,
          fmt::format("use_batch_split_schedule: decoder block '{}' has none", model.decoder_block.name));
  require(model.attention_type == AttentionType::mla && model.routed_bias, place,
          "use_batch_split_schedule needs attention_type=mla and routed_bias=true");
  require_positive({{"q_lora_rank", model.q_lora_rank}, {"shared_experts", model.shared_experts}}, place);
  require(!model.use_indexer && model.mhc_expansion_rate == 1 && model.mtp_num_layers == 0, place,
          "use_batch_split_schedule excludes use_indexer, mhc_expansion_rate and mtp_num_layers");
}

void check_decoder_block(const Model& model, const std::string& place) {
  const DecoderBlock& block = model.decoder_block;
  if (!model.not_modelled.empty()) return;
  check_first_dense_layers(model, block, place);
  check_flags(model, block, place);
  check_block_structure(model, block, place);
  check_dense_branch(model, block, place);
  check_attention_output(model, place);
  check_indexer(model, place);
  check_batch_split(model, place);
  check_compressed_attention(model, place);
  check_streams(model, place);
  require(block.either_feed_forward || model.has_experts() == (block.feed_forward == FeedForward::experts), place,
          fmt::format("decoder block '{}' {}, and num_experts is {}", block.name,
                      block.feed_forward == FeedForward::experts ? "needs at least 2 experts" : "has no experts",
                      model.num_experts));
  if (const auto none = no_predicting_layer(model); model.mtp_num_layers > 0 && none)
    require(false, place, fmt::format("decoder block '{}' has no multi-token prediction: {}", block.name, *none));
  require(model.cycle_interval == 1 || model.layers % model.cycle_interval == 0, place,
          fmt::format("layers={} must be a multiple of cycle_interval={}", model.layers, model.cycle_interval));
  if (block.gated_delta_net) return check_delta_nets(model, place);
  const int period = model.layer_period();
  const bool cycles_of_one = model.cycle_interval == 1 && model.interleave_moe_step == 1;
  require(cycles_of_one || model.cycle_interval == period, place,
          fmt::format("cycle_interval={}: the layers of decoder block '{}' repeat after {}", model.cycle_interval,
                      block.name, period));
}

/// Keeps every later product of dims inside 64 bits.
void check_size(const Model& model, const std::string& place) {
  const double parameters = most_parameters(model);
  require(parameters < 1e16, place,
          fmt::format("about {:.0e} parameters are more than shardplan can count", parameters));
}

/// Of the functions of jax.nn that MaxText takes (layers/linears.py) those that are modelled.
void check_activations(const Model& model, const std::string& place) {
  static const std::vector<std::string> known = {"gelu", "linear", "relu", "sigmoid", "silu"};
  require(!model.mlp_activations.empty(), place, "mlp_activations must name at least one activation");
  for (const std::string& activation : model.mlp_activations)
    if (std::find(known.begin(), known.end(), activation) == known.end())
      throw InputError(fmt::format("{}: mlp_activations: {}", place, unknown_name("activation", activation, known)));
}

}  // namespace

void check_model(const Model& model, const std::string& place) {
  require(!model.name.empty(), place, "name must not be empty");
  check_dims(model, place);
  check_heads(model, place);
  check_rotated(model, place);
  check_attention_pattern(model, place);
  check_per_layer_inputs(model, place);
  check_activations(model, place);
  if (model.has_experts()) check_experts(model, place);
  check_decoder_block(model, place);
  check_size(model, place);
}

}  // namespace shardplan
