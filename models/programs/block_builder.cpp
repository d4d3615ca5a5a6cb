#include <models/programs/block_builder.hpp>
#include <models/programs/narrow_products.hpp>

namespace shardplan {

BlockBuilder::BlockBuilder(std::string name, BlockKind kind, const Model& m, const TrainConfig& c,
                           const ProgramSizes& s)
    : model(m), config(c), sizes(s) {
  constexpr std::size_t usual = 32;  // of a layer
  block.name = std::move(name);
  block.kind = kind;
  if (kind != BlockKind::layer) return;
  block.tensors.reserve(usual);
  block.operations.reserve(usual);
}

TensorId BlockBuilder::weight(std::string name, Dims dims, LogicalAxes axes) {
  for (std::size_t i = 0; i < block.tensors.size(); ++i)
    if (block.tensors[i].parameter && block.tensors[i].name == name) return static_cast<TensorId>(i);
  Tensor tensor;
  tensor.name = std::move(name);
  tensor.dims = std::move(dims);
  tensor.dtype = config.dtype;  // weights are cast to the compute dtype before they move
  tensor.constraint.axes = std::move(axes);
  tensor.parameter = true;
  block.tensors.push_back(std::move(tensor));
  return static_cast<TensorId>(block.tensors.size() - 1);
}

void BlockBuilder::untrained_table(std::string name, Dims dims, DType dtype) {
  LogicalAxes whole;
  whole.resize(dims.size());
  Tensor& table = block.tensors[weight(std::move(name), std::move(dims), std::move(whole))];
  table.role = TensorRole::untrained;
  table.kept_as = table.dtype = dtype;
  table.differentiable = false;
}

TensorId BlockBuilder::bias(std::string name, Dims dims, LogicalAxes axes) {
  const TensorId id = weight(std::move(name), std::move(dims), std::move(axes));
  block.tensors[id].role = TensorRole::bias;
  return id;
}

TensorId BlockBuilder::activation(std::string name, Dims dims, Constraint constraint,
                                  std::vector<std::string> checkpoint_names) {
  Tensor tensor;
  tensor.name = std::move(name);
  tensor.dims = std::move(dims);
  tensor.dtype = config.dtype;
  tensor.constraint = std::move(constraint);
  tensor.checkpoint_names = std::move(checkpoint_names);
  block.tensors.push_back(std::move(tensor));
  return static_cast<TensorId>(block.tensors.size() - 1);
}

TensorId BlockBuilder::side_input(std::string name, Dims dims, Constraint constraint) {
  block.side_inputs.push_back(activation(std::move(name), std::move(dims), std::move(constraint)));
  return block.side_inputs.back();
}

TensorId BlockBuilder::constant(std::string name, Dims dims, DType dtype, Constraint constraint) {
  const TensorId id = activation(std::move(name), std::move(dims), std::move(constraint));
  block.tensors[id].dtype = dtype;
  block.tensors[id].differentiable = false;
  return id;
}

TensorId BlockBuilder::apply(OpKind kind, std::string name, TensorIds inputs, TensorId output) {
  block.operations.push_back({kind, std::move(name), std::move(inputs), output, module});
  if (gives_quantization || config.use_qwix_quantization)
    block.operations.back().narrow = narrow_product(block.operations.back(), block, config);
  return output;
}

TensorId BlockBuilder::constrain(std::string name, TensorId tensor, Constraint constraint) {
  const Dims same = dims(tensor);
  const TensorId output = activation(name, same, std::move(constraint));
  return apply(OpKind::constrain, std::move(name), {tensor}, output);
}

TensorId BlockBuilder::norm(const std::string& name, TensorId x, Constraint constraint,
                            std::vector<std::string> checkpoint_names) {
  return norm_over(1, name, x, std::move(constraint), std::move(checkpoint_names));
}

TensorId BlockBuilder::norm_over(std::size_t scaled_dims, const std::string& name, TensorId x, Constraint constraint,
                                 std::vector<std::string> checkpoint_names) {
  const Dims same = dims(x);
  Dims scaled(same.end() - static_cast<std::ptrdiff_t>(scaled_dims), same.end());
  LogicalAxes axes{"norm"};  // one flat dim in MaxText, the first of these outermost
  axes.resize(scaled_dims);
  const TensorId scale = weight(name + "/scale", std::move(scaled), std::move(axes));
  const TensorId out = activation(name + " output", same, std::move(constraint), std::move(checkpoint_names));
  return apply(OpKind::normalization, name, {x, scale}, out);
}

TensorId BlockBuilder::hidden_norm(const std::string& name, TensorId x, Constraint constraint) {
  const TensorId scaled = norm(name, x, std::move(constraint));
  return model.layer_norm ? add_bias(scaled, name + "/bias", {"norm"}) : scaled;
}

TensorId BlockBuilder::add_bias(TensorId x, const std::string& name, LogicalAxes axes) {
  const Dims& all = dims(x);
  const Dims last(all.end() - static_cast<std::ptrdiff_t>(axes.size()), all.end());
  return add_bias_over(last, x, name, std::move(axes));
}

TensorId BlockBuilder::add_bias_over(Dims bias_dims, TensorId x, const std::string& name, LogicalAxes axes) {
  const Tensor plain = block.tensors[x];
  const TensorId added = bias(name, std::move(bias_dims), std::move(axes));
  const TensorId out = activation(name + " output", plain.dims, plain.constraint, plain.checkpoint_names);
  return apply(OpKind::add, name, {x, added}, out);
}

Dims BlockBuilder::hidden_dims() const {
  return {{Dim::batch, sizes.batch}, {Dim::sequence, sizes.sequence}, {Dim::embed, model.emb}};
}

Constraint BlockBuilder::carried() const {
  Constraint constraint = hidden();
  if (model.mhc_expansion_rate > 1) constraint.axes.push_back("");
  return constraint;
}

Dims BlockBuilder::carried_dims() const {
  Dims dims = hidden_dims();
  if (model.mhc_expansion_rate > 1) dims.insert(dims.end() - 1, {Dim::streams, model.mhc_expansion_rate});
  return dims;
}

}  // namespace shardplan
