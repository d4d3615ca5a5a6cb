#include <fmt/format.h>

#include <algorithm>
#include <models/parameter_count.hpp>
#include <models/programs/matrices.hpp>
#include <models/programs/train_program.hpp>
#include <shardplan/error.hpp>

namespace shardplan {
namespace {

Program counted_program(const Model& model) {
  if (model.not_modelled.empty()) return reference_program(model, model.max_target_length);
  throw InputError(
      fmt::format("model {}: parameters can't be counted without its {}", model.name, model.not_modelled));
}

template <class Count>
std::int64_t sum_over_matrices(const Program& program, Count count) {
  std::int64_t total = 0;
  for (const auto& block : program.blocks)
    for (const Matrix& matrix : matrices_of(block))
      if (!matrix.tensor->shared) total += count(matrix, block) * block.layers;
  return total;
}

double product(std::int64_t a, std::int64_t b) { return static_cast<double>(a) * static_cast<double>(b); }

/// The most that a token is wide anywhere in a layer.
double widest(const Model& model) {
  const std::int64_t largest_head = std::max({model.head_dim, model.global_head_dim, model.v_head_dim,
                                              model.qk_nope_head_dim, model.qk_rope_head_dim});
  return std::max({product(std::max(model.q_heads, model.global_kv_heads), largest_head),
                   static_cast<double>(model.mlp),
                   product(model.moe_mlp, std::max<std::int64_t>(1, model.shared_experts)),
                   product(model.mlp, std::max<std::int64_t>(1, model.shared_experts)),
                   static_cast<double>(model.q_lora_rank),
                   static_cast<double>(model.kv_lora_rank),
                   product(model.o_groups, model.o_lora_rank),
                   product(model.indexer_n_heads, model.indexer_head_dim),
                   product(model.gdn_num_key_heads, model.gdn_key_head_dim),
                   product(model.gdn_num_value_heads, model.gdn_value_head_dim)});
}

/// What mixes the streams of a token: a row for each feature of them, a column for each pair and two for each stream.
double stream_mixers(const Model& model) {
  const double streams = static_cast<double>(model.mhc_expansion_rate);
  constexpr double branches = 2;
  return streams > 1 ? branches * streams * static_cast<double>(model.emb) * (streams * streams + 2 * streams) : 0;
}

}  // namespace

std::int64_t matrix_parameters(const Program& program) {
  return sum_over_matrices(program,
                           [](const Matrix& matrix, const Block&) { return elements_of(*matrix.tensor); });
}

std::int64_t active_matrix_parameters(const Program& program) {
  return sum_over_matrices(program, [](const Matrix& matrix, const Block& block) {
    return matrix.use == WeightUse::by_experts ? elements_of_a_tokens_experts(*matrix.tensor, block)
                                               : elements_of(*matrix.tensor);
  });
}

namespace {

std::int64_t parameters(const Program& program) {
  std::int64_t total = 0;
  for (const auto& block : program.blocks)
    for (const auto& tensor : block.tensors)
      if (tensor.parameter && !tensor.shared) total += elements_of(tensor) * block.layers;
  return total;
}

}  // namespace

std::int64_t parameters(const Model& model) { return parameters(counted_program(model)); }

std::int64_t active_parameters(const Model& model) {
  const Program program = counted_program(model);
  return parameters(program) - matrix_parameters(program) + active_matrix_parameters(program);
}

std::int64_t matrix_parameters(const Model& model) { return matrix_parameters(counted_program(model)); }

std::int64_t active_matrix_parameters(const Model& model) { return active_matrix_parameters(counted_program(model)); }

double most_parameters(const Model& model) {
  const double emb = static_cast<double>(model.emb);
  const double per_layer = emb * widest(model) * static_cast<double>(model.num_experts) + stream_mixers(model);
  const double layers = static_cast<double>(model.layers) + static_cast<double>(model.mtp_num_layers);
  const double per_layer_inputs = product(model.per_layer_dim, model.per_layer_vocab) * layers;
  const double tables = emb * (static_cast<double>(model.vocab) + static_cast<double>(model.trainable_position_size));
  return layers * per_layer + per_layer_inputs + tables;
}

}  // namespace shardplan
