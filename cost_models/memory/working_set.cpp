#include <algorithm>
#include <cmath>
#include <cost_models/layouts/held_experts.hpp>
#include <cost_models/layouts/optimizer_layout.hpp>
#include <cost_models/layouts/tiles.hpp>
#include <cost_models/memory/gradient_memory.hpp>
#include <cost_models/memory/working_set.hpp>
#include <cost_models/partition/products/ragged_dot.hpp>

namespace shardplan {
namespace {

template <class Predicate>
Bytes sum_of(const PartitionedBlock& block, const Predicate& counts) {
  Bytes all;
  for (const auto& life : block.lifetimes)
    if (counts(life)) all += life.bytes;
  return all;
}

/// From its recomputation into its backward pass.
bool waits_in(const PartitionedBlock& block, const Lifetime& life) {
  return life.first < block.gradients_begin && life.last >= block.gradients_begin && life.last >= block.backward_begins;
}

bool is_held(const Lifetime& life, int first_step, WeightGradients weight_gradients) {
  if (life.last < std::max(life.first, first_step)) return false;
  return weight_gradients == WeightGradients::here || !life.unsummed_weight_gradient;
}

int last_step(const PartitionedBlock& block) {
  int end = 0;
  for (const auto& life : block.lifetimes) end = std::max(end, life.last);
  return end;
}

struct WorstStep {
  int step;
  Bytes bytes;
};

WorstStep worst_step(const PartitionedBlock& block, int first_step, WeightGradients weight_gradients) {
  std::vector<std::int64_t> change(std::max(last_step(block), first_step) - first_step + 2, 0);
  for (const auto& life : block.lifetimes) {
    if (!is_held(life, first_step, weight_gradients)) continue;
    change[std::max(life.first, first_step) - first_step] += life.bytes.value;
    change[life.last - first_step + 1] -= life.bytes.value;
  }
  WorstStep worst{first_step, {}};
  std::int64_t now = 0;
  for (std::size_t i = 0; i < change.size(); ++i)
    if (now += change[i]; now > worst.bytes.value) worst = {first_step + static_cast<int>(i), {now}};
  return worst;
}

/// Layers that no scan separates (scan_layers=false, several layers of a pipeline stage): the next one's weights are
/// gathered while this one runs (inferred from a program that the compiler refused). A backward pass that is written by
/// hand says so itself, and hands on the gradients of the layer behind as they are before they are scattered (MaxText
/// models/deepseek_batchsplit.py, process_layer_bwd_scannable).
Bytes prefetched_weights(const PartitionedBlock& block, const BoundProgram& program, const TrainConfig& config,
                         const Compiler& compiler) {
  if (block.block->own_backward) return block.gathered_weights * 2;
  if (!compiler.has(Habit::prefetches_next_layer)) return {};
  if (block.block->kind != BlockKind::layer || block.block->layers == 1) return {};
  const bool stage = block.block->in_pipeline && program.program->pipeline.layers_per_stage > 1;
  const bool resident = block.block->in_pipeline && config.pipeline_fsdp_ag_once;
  return (stage || !config.scan_layers) && !resident ? block.gathered_weights : Bytes{0};
}

/// What a layer's last step reads.
bool is_read_at(int end, const Lifetime& life) {
  return life.last == end && life.first < end && !life.unsummed_weight_gradient;
}

Bytes read_at_the_end(const PartitionedBlock& block) {
  const int end = last_step(block);
  return sum_of(block, [&](const Lifetime& life) { return is_read_at(end, life); });
}

/// What weight gradients read that run when the backward pass of all layers of an iteration has (recorded on 7x: under
/// tensor parallelism gemma327b_7x128_fsdp64_tensor2_save_dot_with_context_except_mlp; else
/// olmo37bx8_7x16_fsdp16_save_dot_except_mlp, of four layers four rows of the feed-forward each).
class LateOperands {
 public:
  explicit LateOperands(const PartitionedBlock& block)
      : block_(block), shares_(!block.block->own_loop),
        end_(shares_ && block.late_gradients_begin == 0 && block.weight_gradients_last ? last_step(block) : -1) {}

  bool operator()(const Lifetime& life) const {
    if (end_ >= 0) return is_read_at(end_, life);
    const bool waits = life.waits_for_iteration && shares_ && block_.block->rematerialized;
    return waits || (life.first < block_.late_gradients_begin && life.last >= block_.late_gradients_begin);
  }

 private:
  const PartitionedBlock& block_;
  const bool shares_;
  const int end_;  ///< the last step; negative: weight gradients don't end the layer
};

Bytes late_operands(const PartitionedBlock& block) { return sum_of(block, LateOperands(block)); }

Bytes late_operands(const Loop& loop) {
  Bytes total;
  for (const PartitionedBlock* block : loop) total += late_operands(*block) * block->block->layers_per_cycle;
  return total;
}

/// What products that multiply every row with every expert copy for their weight gradients (XLA:GPU's ragged_dot): each
/// input once for each expert of the device.
Bytes copies_for_experts(const PartitionedBlock& block, const BoundProgram& program, const Compiler& compiler) {
  const Block& b = *block.block;
  std::vector<TensorId> copied;
  double all = 0;
  for (const Operation& op : b.operations) {
    const TensorId input = op.inputs.front();
    if (!is_ragged_dot(b, op) || std::find(copied.begin(), copied.end(), input) != copied.end()) continue;
    copied.push_back(input);
    const Bytes rows = stored_bytes(b.tensors[input], block.specs()[input], *program.mesh, compiler);
    all += static_cast<double>(rows.value) * local_experts(b, op, program);
  }
  return Bytes{std::llround(all)};
}

/// Sums of the gradients of held experts (held_experts.hpp): all of an iteration are waited for at its end, and what is
/// summed is there until then, as the shards that come of it are (recorded on 7x: mixtral8x7bx8_7x8_pp2fsdp4_ragged, twelve
/// of [8, 4096, 14336] and of a quarter of that).
Bytes unsummed_experts(const PartitionedBlock& block, const TrainConfig& config) {
  const Block& b = *block.block;
  Bytes all;
  for (const Collective& c : block.collectives) {
    const bool sums = c.kind == CollectiveKind::reduce_scatter && c.phase == Phase::backward && c.parameter;
    if (!sums || c.tensor < 0 || !enters_shard_map(b.tensors[block.flow().origin(c.tensor)], b, config)) continue;
    all += c.bytes + Bytes{c.bytes.value / c.group_size};
  }
  return all;
}

/// Of one of the other layers of a pipeline's stage, which no loop separates: what weight gradients read that run when the
/// backward pass of all of them has (recorded: qwen314bx32_7x32_pipeline16_fsdp2_mb16_full, four buffers of [8192, 17408]
/// of each of two layers; experts on the dropping path: plan_qwen3235ba22b_h100_64, of each of 47 layers two of the experts'
/// rows and three of hidden ones, mixtral8x7bx8_7x8_pp2ep4_fix_full).
Bytes left_in_stage(const PartitionedBlock& block, const BoundProgram& program, const TrainConfig& config,
                    const Compiler& compiler) {
  if (block.weight_gradients_last)
    return compiler.has(Habit::runs_weight_gradients_beside_collectives) ? read_at_the_end(block) : Bytes{0};
  if (!block.block->mixture || !compiler.has(Habit::runs_cycle_weight_gradients_last)) return {};
  if (config.moe_path == MoePath::dropping)
    return weight_gradient_operands(block, *program.mesh, compiler, Module::mixture);
  if (holds_gathered_experts(*block.block, program.program->pipeline, config, compiler))
    return unsummed_experts(block, config);
  return is_ragged_dot_dense(compiler, config) ? copies_for_experts(block, program, compiler) : Bytes{0};
}

Bytes operands_of_stage(const PartitionedBlock& block, const BoundProgram& program, const TrainConfig& config,
                        const Compiler& compiler) {
  if (!block.block->in_pipeline) return {};
  return left_in_stage(block, program, config, compiler) * (program.program->pipeline.layers_per_stage - 1);
}

/// While which layer of an iteration runs backward most is held.
struct WorstLayer {
  Bytes bytes;
  std::size_t layer = 0;     ///< of the loop
  bool others_wait = false;  ///< layers of its kind that share the iteration hold what waits for their backward pass, not
                             ///< what is left of it
};

int first_step_of(const PartitionedBlock& block) { return block.block->rematerialized ? block.backward_begins : 0; }

/// Whether its values are gone when another layer of the iteration runs backward.
bool runs_alone(const Loop& loop, const PartitionedBlock& block, const Compiler& compiler) {
  return (loop.size() == 1 && block.block->layers_per_cycle == 1) || block.block->own_loop ||
         !compiler.has(Habit::recomputes_cycles_together);
}

WorstLayer worst_layer(const Loop& loop, const BoundProgram& program, const TrainConfig& config, const Compiler& compiler,
                       WeightGradients weight_gradients) {
  WorstLayer worst;
  Bytes waiting, late = late_operands(loop);
  for (std::size_t i = 0; i < loop.size(); ++i) {
    const PartitionedBlock& block = *loop[i];
    const Bytes values = runs_alone(loop, block, compiler) ? Bytes{0} : waiting_values(block);
    const Bytes own = working_set(block, first_step_of(block), weight_gradients) +
                      prefetched_weights(block, program, config, compiler) +
                      operands_of_stage(block, program, config, compiler);
    const Bytes left = late_operands(block);
    const std::int64_t others = block.block->layers_per_cycle - 1;
    late -= left * (others + 1);
    const bool others_wait = values >= left;
    const Bytes all = waiting + (others_wait ? values : left) * others + late + own;
    if (all > worst.bytes) worst = {all, i, others_wait};
    waiting += values * (others + 1);
  }
  return worst;
}

}  // namespace

Bytes working_set(const PartitionedBlock& block, int first_step, WeightGradients weight_gradients) {
  return worst_step(block, first_step, weight_gradients).bytes;
}

Bytes waiting_values(const PartitionedBlock& block) {
  return sum_of(block, [&](const Lifetime& life) { return waits_in(block, life); });
}

Bytes working_set(const Loop& loop, const BoundProgram& program, const TrainConfig& config, const Compiler& compiler,
                  WeightGradients weight_gradients) {
  return worst_layer(loop, program, config, compiler, weight_gradients).bytes;
}

namespace {

class Held {
 public:
  template <class Predicate>
  void add(const PartitionedBlock& block, std::int64_t layers, const Predicate& counts) {
    if (layers == 0) return;
    for (const auto& life : block.lifetimes)
      if (counts(life)) all_.push_back({&block, life.name, life.bytes, layers});
  }

  void add(const PartitionedBlock& block, const char* name, Bytes bytes) {
    if (bytes.value > 0) all_.push_back({&block, name, bytes, 1});
  }

  std::vector<HeldInIteration> all() { return std::move(all_); }

 private:
  std::vector<HeldInIteration> all_;
};

}  // namespace

std::vector<HeldInIteration> held_in_iteration(const Loop& loop, const BoundProgram& program, const TrainConfig& config,
                                               const Compiler& compiler, WeightGradients weight_gradients) {
  const WorstLayer worst = worst_layer(loop, program, config, compiler, weight_gradients);
  Held held;
  for (std::size_t i = 0; i < loop.size(); ++i) {
    const PartitionedBlock& block = *loop[i];
    const auto waits = [&](const Lifetime& life) { return waits_in(block, life); };
    const LateOperands late(block);
    const std::int64_t layers = block.block->layers_per_cycle;
    if (i < worst.layer && !runs_alone(loop, block, compiler)) held.add(block, layers, waits);
    if (i > worst.layer) held.add(block, layers, late);
    if (i != worst.layer) continue;
    const int first = first_step_of(block), step = worst_step(block, first, weight_gradients).step;
    held.add(block, 1, [&](const Lifetime& life) {
      return is_held(life, first, weight_gradients) && life.first <= step && life.last >= step;
    });
    if (worst.others_wait && !runs_alone(loop, block, compiler)) held.add(block, layers - 1, waits);
    if (!worst.others_wait) held.add(block, layers - 1, late);
    held.add(block, "weights gathered for the next layer", prefetched_weights(block, program, config, compiler));
    held.add(block, "what weight gradients of the stage's other layers read",
             operands_of_stage(block, program, config, compiler));
  }
  return held.all();
}

}  // namespace shardplan
