#include <models/programs/layers/batch_split_layers.hpp>
#include <models/programs/layers/hyper_connection.hpp>
#include <models/programs/layers/layer.hpp>

namespace shardplan {
namespace {

TensorId mix(BlockBuilder& b, TensorId x, const Branch& branch) {
  const TensorId in = branch.norm_before.empty() ? x : b.hidden_norm(branch.norm_before, x, b.carried());
  const TensorId mixed = branch.mix(b, in);
  b.module = Module::none;
  return branch.norm_after.empty() ? mixed : b.hidden_norm(branch.norm_after, mixed, b.carried());
}

/// x + mix(x), or the streams mixed before and behind it.
TensorId add_branch(BlockBuilder& b, TensorId x, const Branch& branch) {
  if (b.model.mhc_expansion_rate > 1 && branch.connection != HyperConnection::none)
    return add_hyper_connection(b, x, branch);
  const TensorId out = mix(b, x, branch);
  return b.apply(OpKind::add, branch.sum, {x, out}, b.activation(branch.sum, b.carried_dims(), b.carried()));
}

/// x times one learned number.
TensorId scale_output(BlockBuilder& b, TensorId x) {
  const TensorId scalar = b.weight("layer_scalar", {{Dim::position, 1}}, {""});
  return b.apply(OpKind::elementwise, "layer_scalar", {x, scalar},
                 b.activation("scaled output", b.carried_dims(), b.carried()));
}

}  // namespace

void add_branches(BlockBuilder& b, const LayerKind& kind) {
  for (const Branch& branch : kind.branches) b.block.output = add_branch(b, b.block.output, branch);
}

Block layer_block(const LayerKind& kind, const Model& model, const TrainConfig& config, const ProgramSizes& sizes) {
  if (kind.batch_split) return batch_split_block(kind.name, kind.count, model, config, sizes);
  BlockBuilder b(kind.name, BlockKind::layer, model, config, sizes);
  b.block.input = b.block.output = b.activation("layer input", b.carried_dims(), b.carried());
  add_branches(b, kind);
  if (kind.scales_output) b.block.output = scale_output(b, b.block.output);
  b.block.layers = kind.count;
  if (config.scan_layers) {
    b.block.own_loop = kind.own_loop;
    b.block.stays_on_device = kind.stays_on_device;
    b.block.layers_per_cycle = kind.per_cycle;
    b.block.continues_cycle = kind.continues_cycle;
  }
  return std::move(b.block);
}

}  // namespace shardplan
