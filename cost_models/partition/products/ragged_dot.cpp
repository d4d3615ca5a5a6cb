#include <cost_models/partition/block_state.hpp>
#include <cost_models/partition/products/ragged_dot.hpp>

namespace shardplan {

bool is_ragged_dot(const Block& block, const Operation& op) {
  return op.kind == OpKind::einsum && index_of(block.tensors[op.output].dims, Dim::rows) >= 0 &&
         index_of(block.tensors[op.inputs[1]].dims, Dim::experts) >= 0;
}

bool is_ragged_dot_dense(const Compiler& compiler, const TrainConfig& config) {
  return compiler.has(Habit::ragged_dot_is_dense) && !config.has_grouped_kernel();
}

double local_experts(const Block& block, const Operation& product, const BoundProgram& program) {
  const auto& weight = block.tensors[product.inputs[1]].dims;
  const std::int64_t experts = weight[index_of(weight, Dim::experts)].size;
  return static_cast<double>(experts) / static_cast<double>(program.mesh->product(program.expert_axes));
}

}  // namespace shardplan
