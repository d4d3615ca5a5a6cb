#include <cost_models/operations/attention/held_scores.hpp>

namespace shardplan {

void multiply_scores(OperationWork& work, const BlockState& state, const Operation& op, const HeldScores& scores) {
  constexpr std::int64_t forward = 2, backward = 4;
  const double queries = static_cast<double>(state.program.program->sequence);
  const double width = static_cast<double>(state.tensor(op.inputs[0]).dims.back().size);
  work.kind = WorkKind::matmul;
  work.shape = {queries, scores.keys, width, scores.rows / queries};
  work.attention = {};
  work.forward_traffic += scores.bytes() * forward;
  work.backward_traffic += scores.bytes() * backward;
  const auto add = [&, halves = scores.count() * static_cast<double>(size_of(scores.dtype)) / 2](VectorKernel kernel) {
    const VectorCosts& costs = state.compiler.vector_kernels.of(kernel);
    work.vector_forward += vector_work(costs.forward, halves, DType::bf16);
    work.vector_backward += vector_work(costs.backward, halves, DType::bf16);
  };
  add(VectorKernel::scores);
  if (scores.grouped && state.compiler.has(Habit::transposes_grouped_scores)) add(VectorKernel::turned_scores);
}

std::vector<Lifetime> score_buffers(const BlockState& state, const Schedule& schedule, OperationId id,
                                    const HeldScores& scores) {
  const Bytes probabilities = scores.bytes(), mask{static_cast<std::int64_t>(scores.count())};
  if (!schedule.has_backward(id))
    return {{"attention probabilities", probabilities, schedule.forward[id], schedule.forward[id]},
            {"attention mask", mask, schedule.forward[id], schedule.forward[id]}};
  const int begins = schedule.backward_begins[id], ends = schedule.backward_ends[id];
  const int written = schedule.held_from(state.block, id);
  if (scores.exchanged) {
    std::vector<Lifetime> all = {{"attention probabilities", probabilities, written, ends},
                                 {"attention probabilities gradient", probabilities, begins, ends},
                                 {"attention scores, exchanged", probabilities * 3, begins, ends}};
    if (state.compiler.has(Habit::writes_product_operands))
      all.push_back({"attention scores", probabilities, written, begins - 1});
    return all;
  }
  std::vector<Lifetime> all = {{"attention probabilities", probabilities, written, ends},
                               {"attention mask", mask, written, ends},
                               {"attention probabilities gradient", probabilities, begins, ends}};
  if (scores.grouped && state.compiler.has(Habit::transposes_grouped_scores))
    all.push_back({"attention probabilities, transposed", probabilities - mask, begins, ends});
  const bool by_library = state.compiler.has(Habit::writes_product_operands);
  const bool waits = scores.capped && !state.compiler.vector_kernels.fuses_into_products;
  if (by_library && !scores.grouped) all.push_back({"attention scores", probabilities, written, ends});
  else if (waits) all.push_back({"attention scores", probabilities, written, begins - 1});
  if (!by_library) return all;
  all.push_back({"attention scores gradient, as products read it", probabilities * (scores.grouped ? 1 : 2), begins, ends});
  return all;
}

}  // namespace shardplan
