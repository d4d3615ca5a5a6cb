#include <fmt/format.h>

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

}  // namespace shardplan
