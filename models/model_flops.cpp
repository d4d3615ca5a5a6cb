#include <models/model_flops.hpp>
#include <models/parameter_count.hpp>
#include <shardplan/error.hpp>

namespace shardplan {
namespace {

double attended_keys(double sequence, double window) {
  return window <= 0 || window >= sequence ? sequence / 2 : window - window * window / (2 * sequence);
}

/// Keys summed over the layers: with a window, all but each period's last layer are local.
double attended_keys_of_layers(const Model& model, std::int64_t sequence) {
  const std::int64_t layers = model.layers * model.sublayers_per_layer;
  const auto& [window, locals] = model.attention_pattern;
  const std::int64_t globals = window > 0 ? layers / (locals + 1) : layers;
  const double length = static_cast<double>(sequence);
  return static_cast<double>(globals) * attended_keys(length, 0) +
         static_cast<double>(layers - globals) * attended_keys(length, static_cast<double>(window));
}

/// The two products of one head: query·key over the qk dim, probabilities·value over the v dim.
std::int64_t attention_dims(const Model& model) {
  switch (model.attention_type) {
    case AttentionType::global:
      return 2 * model.head_dim;
    case AttentionType::mla:
      return model.qk_nope_head_dim + model.qk_rope_head_dim + model.v_head_dim;
    case AttentionType::compressed:
      break;  // not modelled; active_matrix_parameters has said so
  }
  throw InternalError("no FLOP count for this attention type");
}

/// A tied table is counted once and multiplied with in the head, so nothing is left out.
std::int64_t multiplied_weights(const Model& model) {
  return active_matrix_parameters(model) - (model.tied_embedding ? 0 : model.vocab * model.emb);
}

}  // namespace

Flops model_flops_per_token(const Model& model, std::int64_t sequence) {
  const double weights = static_cast<double>(multiplied_weights(model));
  const double attention = static_cast<double>(model.q_heads * attention_dims(model));
  return {6 * weights + 6 * attention * attended_keys_of_layers(model, sequence)};
}

}  // namespace shardplan
