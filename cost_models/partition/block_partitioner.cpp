#include <cost_models/partition/block_partitioner.hpp>

namespace shardplan {

BlockPartitioner::BlockPartitioner(const BoundProgram& program, const BoundBlock& bound, const TrainConfig& config,
                                   const Compiler& compiler)
    : program_(program),
      block_(*bound.block),
      config_(config),
      compiler_(compiler),
      mesh_(*program.mesh),
      bound_specs_(bound.specs),
      specs_(block_.tensors.size()),
      liveness_(liveness_of(block_, config.saved)),
      recorder_(block_, mesh_),
      forms_(program, block_, specs_, config, compiler, recorder_),
      contributions_(block_.tensors.size()) {}

PartitionedBlock BlockPartitioner::run() {
  for (std::size_t i = 0; i < specs_.size(); ++i)
    if (bound_specs_[i]) specs_[i] = *bound_specs_[i];
  for (const auto& op : block_.operations) propagate(op);
  for (const auto& op : block_.operations) slice_masks(op);

  const std::size_t count = block_.operations.size();
  forward_step_.assign(count, -1);
  recompute_step_.assign(count, -1);
  backward_begin_.assign(count, -1);
  backward_step_.assign(count, -1);
  const auto next_step = [this] {
    forms_.advance();
    return forms_.step();
  };
  for (std::size_t i = 0; i < count; ++i) {
    forward_step_[i] = next_step();
    forward(block_.operations[i], Pass::forward);
  }
  const int backward_begins = forms_.step() + 1;
  for (std::size_t i = 0; i < count && block_.rematerialized; ++i) {
    if (!liveness_.recomputed[i]) continue;
    recompute_step_[i] = next_step();
    forward(block_.operations[i], Pass::backward);
  }
  const int gradients_begin = forms_.step() + 1;
  forms_.turn_backward();
  for (std::size_t i = count; i-- > 0;) {
    backward_begin_[i] = next_step();
    backward(block_.operations[i]);
    backward_step_[i] = forms_.step();
  }

  PartitionedBlock result;
  result.block = &block_;
  for (std::size_t i = 0; i < block_.operations.size(); ++i) {
    result.work.push_back(work_of(block_.operations[i]));
    result.work.back().name = block_.operations[i].name;
    result.work.back().recomputed = block_.rematerialized && liveness_.recomputed[i];
  }
  result.lifetimes = lifetimes();
  result.backward_begins = backward_begins;
  result.gradients_begin = gradients_begin;
  result.specs = std::move(specs_);
  result.collectives = recorder_.take();
  result.liveness = std::move(liveness_);
  result.gathered_weights = forms_.gathered_weights();
  return result;
}

AxisList BlockPartitioner::split_axes(TensorId id, std::initializer_list<Dim> dims) const {
  AxisList axes;
  for (std::size_t i = 0; i < tensor(id).dims.size(); ++i)
    for (const Dim dim : dims)
      if (tensor(id).dims[i].dim == dim) axes.insert(axes.end(), specs_[id].dims[i].begin(), specs_[id].dims[i].end());
  return axes;
}

PartitionedBlock partition_block(const BoundProgram& program, const BoundBlock& block, const TrainConfig& config,
                                 const Compiler& compiler) {
  return BlockPartitioner(program, block, config, compiler).run();
}

std::vector<PartitionedBlock> partition(const BoundProgram& program, const TrainConfig& config,
                                        const Compiler& compiler) {
  std::vector<PartitionedBlock> blocks;
  for (const auto& block : program.blocks) blocks.push_back(partition_block(program, block, config, compiler));
  return blocks;
}

}  // namespace shardplan
