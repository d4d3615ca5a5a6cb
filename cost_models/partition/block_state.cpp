#include <cost_models/partition/block_state.hpp>

namespace shardplan {
namespace {

/// Where the dim is, or the other kind of heads: a device cuts its keys out of the heads that it has of queries, keys and
/// values together (MaxText layers/attentions.py, split_qkv; recorded: llama27bx6_v5p16_tensor8_minimal_with_context).
int place_of_like(const Dims& dims, Dim dim) {
  const int place = index_of(dims, dim);
  if (place >= 0 || (dim != Dim::q_heads && dim != Dim::kv_heads)) return place;
  return index_of(dims, dim == Dim::q_heads ? Dim::kv_heads : Dim::q_heads);
}

}  // namespace

BlockState::BlockState(const BoundProgram& bound_program, const BoundBlock& bound, const TrainConfig& train_config,
                       const Compiler& the_compiler, std::shared_ptr<BlockLayout> layout)
    : program(bound_program),
      block(*bound.block),
      config(train_config),
      compiler(the_compiler),
      mesh(*bound_program.mesh),
      layout_(layout ? std::move(layout) : std::make_shared<BlockLayout>(bound)),
      constrained_(bound.specs),
      masks(layout_->masks),
      recorder(*bound_program.program, block, mesh),
      forms(program, block, layout_->flow, layout_->specs, config, compiler, recorder),
      gradients(program, block, layout_->specs, config, compiler, masks, forms, recorder) {}

bool BlockState::is_layer_product(const Operation& op) const {
  const bool of_layer = op.module == Module::mlp || op.module == Module::attention;
  return of_layer && op.kind == OpKind::einsum && tensor(op.inputs[1]).parameter;
}

bool BlockState::splits_features() const { return !split_axes(block.input, {Dim::embed}).empty(); }

bool BlockState::is_weight_gradient_late(const Operation& product) const {
  if (!compiler.has(Habit::runs_weight_gradients_beside_collectives) || block.kind != BlockKind::layer) return false;
  return is_layer_product(product) && block.rematerialized && splits_features() && hides_collectives_behind_gradients();
}

/// Of products by Triton only what is summed over devices is left for that (not h100c_ll8_tp8, where no axis splits tokens).
bool BlockState::hides_collectives_behind_gradients() const {
  if (!compiler.overlap.one_in_flight || compiler.has(Habit::writes_product_operands)) return true;
  return !split_axes(block.input, {Dim::batch, Dim::sequence}).empty();
}

const EinsumPlan& BlockState::product_plan(const Operation& op) const {
  auto& plan = layout_->products[id_of(op)];
  if (plan) return *plan;
  const TensorId lhs = op.inputs[0], rhs = op.inputs[1];
  // MaxText constrains tokens that it sends to experts and what comes of each product, not the hidden rows that wo reads.
  const bool pinned = op.role == OperationRole::expert_projection && is_constrained(lhs);
  plan = std::make_unique<const EinsumPlan>(
      plan_einsum({&tensor(lhs), spec(lhs), pinned}, {&tensor(rhs), spec(rhs)}, tensor(op.output).dims,
                  is_constrained(op.output) ? &spec(op.output) : nullptr, mesh, compiler));
  return *plan;
}

AxisList BlockState::split_axes(TensorId id, std::initializer_list<Dim> dims) const {
  return axes_of(tensor(id), spec(id), dims);
}

PartitionSpec BlockState::aligned(TensorId input, TensorId output) const {
  const bool towards_input = !is_constrained(output) && spec(output).dims.empty();
  const TensorId from = towards_input ? input : output, to = towards_input ? output : input;
  PartitionSpec aligned;
  for (const auto& dim : tensor(to).dims) {
    const int place = place_of_like(tensor(from).dims, dim.dim);
    aligned.dims.push_back(place < 0 ? AxisList{} : spec(from).dims[place]);
  }
  return aligned;
}

}  // namespace shardplan
