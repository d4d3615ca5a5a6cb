#include <fmt/format.h>

#include <models/parameter_count.hpp>
#include <shardplan/error.hpp>

namespace shardplan {
namespace {

/// query and output: emb × q_heads·head_dim each; key and value: emb × kv_heads·head_dim each
std::int64_t grouped_query_attention(const Model& model) {
  return 2 * model.emb * model.head_dim * (model.q_heads + model.kv_heads);
}

/// emb → q_lora_rank → q_heads·(nope + rope), or straight from emb where there is no query rank
std::int64_t latent_query(const Model& model) {
  const std::int64_t out = model.q_heads * (model.qk_nope_head_dim + model.qk_rope_head_dim);
  if (model.q_lora_rank == 0) return model.emb * out;
  const std::int64_t norm = model.q_lora_rank;
  return model.emb * model.q_lora_rank + norm + model.q_lora_rank * out;
}

/// emb → kv_lora_rank + rope (shared by the heads); kv_lora_rank → q_heads·(nope + v)
std::int64_t latent_key_value(const Model& model) {
  const std::int64_t down = model.emb * (model.kv_lora_rank + model.qk_rope_head_dim);
  const std::int64_t norm = model.kv_lora_rank;
  return down + norm + model.kv_lora_rank * model.q_heads * (model.qk_nope_head_dim + model.v_head_dim);
}

std::int64_t attention(const Model& model) {
  switch (model.attention_type) {
    case AttentionType::mla:
      return latent_query(model) + latent_key_value(model) + model.q_heads * model.v_head_dim * model.emb;
    case AttentionType::global:
      return grouped_query_attention(model);
    case AttentionType::compressed:
      break;  // not modelled, and count() has said so
  }
  throw InternalError("no parameter count for this attention type");
}

/// One input projection for each activation function, one output projection.
std::int64_t feed_forward(const Model& model, std::int64_t width) {
  return (static_cast<std::int64_t>(model.mlp_activations.size()) + 1) * model.emb * width;
}

/// gate + the routed experts of interest + the shared ones
std::int64_t mixture(const Model& model, std::int64_t routed_experts) {
  return model.emb * model.num_experts + (routed_experts + model.shared_experts) * feed_forward(model, model.moe_mlp);
}

std::int64_t count(const Model& model, std::int64_t routed_experts) {
  if (!model.not_modelled.empty())
    throw InputError(
        fmt::format("model {}: parameters can't be counted without its {}", model.name, model.not_modelled));
  const std::int64_t tables = (model.tied_embedding ? 1 : 2) * model.vocab * model.emb;
  const std::int64_t layers = model.layers * attention(model) + model.dense_layers() * feed_forward(model, model.mlp) +
                              model.moe_layers() * mixture(model, routed_experts);
  return tables + model.sublayers_per_layer * layers;
}

}  // namespace

std::int64_t matrix_parameters(const Model& model) { return count(model, model.num_experts); }

std::int64_t active_matrix_parameters(const Model& model) { return count(model, model.top_k); }

}  // namespace shardplan
