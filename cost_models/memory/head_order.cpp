#include <algorithm>
#include <cost_models/blocks/released_weights.hpp>
#include <cost_models/memory/gradient_memory.hpp>
#include <cost_models/memory/head_order.hpp>
#include <cost_models/memory/host_traffic.hpp>
#include <cost_models/memory/saved_value.hpp>
#include <cost_models/partition/logits.hpp>
#include <cost_models/partition/pressed_blocks.hpp>
#include <optional>
#include <shardplan/compiler/schedule_limit.hpp>

namespace shardplan {
namespace {

const PartitionedBlock* head_of(const std::vector<PartitionedBlock>& blocks) {
  const auto head = std::find_if(blocks.begin(), blocks.end(), [](const PartitionedBlock& block) {
    return block.block->kind == BlockKind::head;
  });
  return head == blocks.end() ? nullptr : &*head;
}

/// Whether nothing that a feed-forward makes is moved to the host: it is computed again.
bool offloads_attention_alone(const PartitionedBlock& block) {
  return std::none_of(block.liveness.offloaded.begin(), block.liveness.offloaded.end(), [&](TensorId id) {
    const OperationId maker = block.flow().maker(id);
    const Module module = maker >= 0 ? block.block->operations[maker].module : Module::none;
    return module == Module::mlp || module == Module::shared_experts || module == Module::mixture;
  });
}

/// Whether an iteration of some layers computes the feed-forwards of several again.
bool recomputes_cycle(const PartitionedBlock& block, const Program& program) {
  return shares_iteration(*block.block, program) && !block.liveness.offloaded.empty() && offloads_attention_alone(block);
}

bool reads_split_features(const PartitionedBlock& head) {
  const TensorId input = head.block->input;
  return !axes_of(head.block->tensors[input], head.specs()[input], {Dim::embed}).empty();
}

/// Whether the head that may wait never does where the list is not expected: see expected_late_or_early.
bool is_never_late(const std::vector<PartitionedBlock>& blocks, const BoundProgram& program, const Compiler& compiler) {
  const PartitionedBlock* head = head_of(blocks);
  if (!head || is_tied(*head)) return false;
  bool recomputes_cycles = false;
  for (const PartitionedBlock& block : blocks) {
    if (!recomputes_cycle(block, *program.program)) continue;
    if (block.block->mixture) return true;
    recomputes_cycles = true;
  }
  if (recomputes_cycles) return false;
  const bool has_kernel = !writes_over_logits(*head->block, head->flow(), head->specs(), *program.mesh, compiler);
  return !has_kernel && reads_split_features(*head);
}

/// Of what one layer makes, the widest.
Bytes widest_value(const PartitionedBlock& block, const Mesh& mesh) {
  Bytes widest;
  for (const Operation& op : block.block->operations)
    widest = std::max(widest, local_bytes(block.block->tensors[op.output], block.specs()[op.output], mesh));
  return widest;
}

/// As XLA estimates it the forward loops hold what they save twice, what enters a loop and what leaves it (its estimate of
/// plan_qwen38b_tpuv6e_256 is 44.4 GB, of which 30.4 are needed and 2 · 21.7 are saved), and an iteration's widest value.
Bytes forward_peak(const std::vector<PartitionedBlock>& blocks, const BoundProgram& program) {
  Bytes saved, widest;
  for (const auto& block : blocks) {
    saved += saved_activations(block, program);
    if (block.block->kind == BlockKind::layer) widest = std::max(widest, widest_value(block, *program.mesh));
  }
  return saved * 2 + widest;
}

/// Whether XLA estimates the peak of its list to be less than that of the orders that these moments are of.
bool is_list_smaller(const std::vector<Moment>& others, const std::vector<PartitionedBlock>& blocks,
                     const BoundProgram& program, const TrainConfig& config, const Compiler& compiler) {
  // counted, too: of plan_gemma312b_tpuv6e_16, if its head waited, 40.5 GB, 30.8 on the device and 9.7 on the host
  const Bytes host = offloaded(program, blocks);
  const Bytes forward = forward_peak(blocks, program) + host * 2;
  const Bytes cleared = cleared_stacks(blocks, program, config, compiler) + head_of(blocks)->gathered_weights;
  const auto listed = in_list(blocks);
  const auto list = moments_of(listed.empty() ? blocks : listed, program, config, compiler, HeadGradient::early_in_list);
  return std::max(largest(list).total() + host, forward + cleared) < std::max(largest(others).total() + host, forward);
}

/// One whose weight is the table's: heads of multi-token prediction share theirs with each other.
bool is_tied_to_table(const std::vector<PartitionedBlock>& blocks) {
  const auto heads = std::count_if(blocks.begin(), blocks.end(),
                                   [](const PartitionedBlock& block) { return block.block->kind == BlockKind::head; });
  return heads == 1 && is_tied(*head_of(blocks));
}

/// Whether what XLA's list needs of such layers is known: they are alone in an iteration, nothing of their feed-forwards is
/// on the host, and experts have places (with sorted rows it needs more: plan_mixtral8x22b_tpuv5p_32, 61.4 GiB for 54.1).
bool is_plain_in_list(const PartitionedBlock& block, const Program& program, const TrainConfig& config) {
  if (block.block->kind != BlockKind::layer) return true;
  return !shares_iteration(*block.block, program) && offloads_attention_alone(block) &&
         (!block.block->mixture || config.moe_path == MoePath::dropping);
}

/// Where the list has a head that may wait, if the list is taken.
std::optional<HeadGradient> listed_order(const std::vector<PartitionedBlock>& blocks, const BoundProgram& program,
                                         const TrainConfig& config, const Compiler& compiler) {
  if (!compiler.has(Habit::takes_list_order)) return std::nullopt;
  if (is_tied_to_table(blocks)) return HeadGradient::early_in_list;
  const PartitionedBlock* head = head_of(blocks);
  if (!head || is_head_gradient_last_in_list(*head, program, config, compiler)) return std::nullopt;
  const bool plain = std::all_of(blocks.begin(), blocks.end(), [&](const PartitionedBlock& block) {
    return is_plain_in_list(block, *program.program, config);
  });
  return plain ? std::optional(HeadGradient::early_in_turn) : std::nullopt;
}

/// Whether all layers share an iteration with others and are mixtures, none of whose values are moved to the host.
bool are_cycles_of_mixtures(const std::vector<PartitionedBlock>& blocks) {
  const std::vector<Loop> loops = loops_of(blocks);
  return std::all_of(loops.begin(), loops.end(), [](const Loop& loop) {
    if (loop.front()->block->kind != BlockKind::layer) return true;
    return (loop.size() > 1 || loop.front()->block->layers_per_cycle > 1) &&
           std::all_of(loop.begin(), loop.end(), [](const PartitionedBlock* layer) {
             return layer->block->mixture && layer->liveness.offloaded.empty();
           });
  });
}

/// Whether behind the layers' backward pass nothing moves but sums of whole gradients: neither rows of the table nor shards
/// of the head.
bool sums_whole_gradients_behind(const std::vector<PartitionedBlock>& blocks) {
  return std::none_of(blocks.begin(), blocks.end(), [](const PartitionedBlock& block) {
    const BlockKind kind = block.block->kind;
    return std::any_of(block.collectives.begin(), block.collectives.end(), [&](const Collective& c) {
      if (c.phase != Phase::backward) return false;
      return (kind == BlockKind::embedding && c.kind == CollectiveKind::all_to_all) ||
             (kind == BlockKind::head && c.kind == CollectiveKind::reduce_scatter);
    });
  });
}

}  // namespace

bool is_listed(HeadGradient order) {
  return order == HeadGradient::early_in_turn || order == HeadGradient::early_in_list;
}

bool is_left_before_loop(const std::vector<PartitionedBlock>& blocks, const Compiler& compiler) {
  if (!compiler.overlap.one_in_flight) return false;
  const auto moves_sums = [](const Collective& c) {
    return c.phase == Phase::backward && c.kind != CollectiveKind::reduce_scatter;
  };
  return std::none_of(blocks.begin(), blocks.end(), [&](const PartitionedBlock& block) {
    const bool is_table = block.block->kind == BlockKind::embedding;
    return block.block->in_pipeline ||
           (is_table && std::any_of(block.collectives.begin(), block.collectives.end(), moves_sums));
  });
}

bool may_wait(const std::vector<PartitionedBlock>& blocks, const Compiler& compiler) {
  return compiler.has(Habit::peels_offloading_loops) && !compiler.has(Habit::defers_head_gradient) &&
         std::any_of(blocks.begin(), blocks.end(),
                     [](const PartitionedBlock& block) { return !block.liveness.offloaded.empty(); });
}

/// Behind a peeled backward loop runs one more layer, and the head's weight gradient beside it where that is within the
/// limit (plan_llama3170b_tpuv6e_256, plan_qwen3235ba22b_tpuv5p_256). Compilers that defer it anyway do so beyond the
/// limit too (plan_mixtral8x7b_tpu7x_8_offload: 95.3%). Where XLA's list needs less, it is early: the list runs what frees
/// most, the last product with the gathered weight, then that of its gradient (of 40 dense steps logged on v5p and v6e the
/// estimates say for 39 whether the list was taken: qwen38bx6_v6e8_fsdp8_qkvoff, whose words are all-reduced,
/// plan_qwen257b_tpuv6e_128, 30.4 GiB for 30.6, in XLA's own 30.4 for 31.0). Under tensor parallelism whose features are
/// split it is early at any share, as in the list (llama27bx4_v6e16_tp16_minoff_bf16weights). A tied head's is added to the
/// table's, which comes last: late (gemma7bx4_v6e8_fsdp8_qkvoff), unless the list is taken (plan_gemma312b_tpuv6e_16,
/// plan_gemma327b_tpuv6e_32). Early, too, where an iteration computes the mixtures of several layers again: beside its
/// values the product has no room (plan_llama417b16e_tpuv5p_64 and _128, gptoss20b_v5p32_qkvoff, at 49 to 73% of the
/// memory; single layers wait: plan_qwen3235ba22b_tpuv5p_256). Late where they are dense, at 39 to 86%
/// (olmo37b_v5p32_fsdp16_qkvoff_batch16, olmo37b_v6e16_fsdp16_qkvoff_batch4, plan_olmo37b_tpuv6e_16).
HeadGradient expected_late_or_early(const std::vector<PartitionedBlock>& blocks, const BoundProgram& program,
                                    const TrainConfig& config, const Compiler& compiler, const MemoryUse& use) {
  if (compiler.has(Habit::makes_head_gradient_before_offloaded)) return HeadGradient::early_in_turn;
  const auto late = moments_of(blocks, program, config, compiler, HeadGradient::late);
  if (const auto listed = listed_order(blocks, program, config, compiler);
      listed && is_list_smaller(late, blocks, program, config, compiler))
    return *listed;
  if (is_never_late(blocks, program, compiler)) return HeadGradient::early_in_turn;
  const auto share_of = [&](const std::vector<Moment>& moments) {
    const Bytes peak = use.arguments() + largest(moments).total();
    return static_cast<double>(peak.value) / static_cast<double>(use.capacity.value);
  };
  if (share_of(late) <= schedule_limit) return HeadGradient::late;
  if (!is_freed_under_pressure(blocks)) return HeadGradient::early;
  const auto pressed = moments_of(under_pressure(blocks), program, config, compiler, HeadGradient::late);
  return share_of(pressed) <= schedule_limit ? HeadGradient::late : HeadGradient::early;
}

/// The list clears the layers' gradient stacks and gathers the head's weight as soon as it can, since that takes less than
/// the stacks of what the forward loops save: they are there at the loss, and in front of it.
HeadGradient usual_or_listed(const std::vector<PartitionedBlock>& blocks, const BoundProgram& program,
                             const TrainConfig& config, const Compiler& compiler, const std::vector<Moment>& usual) {
  const PartitionedBlock* head = head_of(blocks);
  if (!head) return HeadGradient::habitual;
  if (compiler.has(Habit::lists_cycles_of_mixtures) && are_cycles_of_mixtures(blocks) &&
      sums_whole_gradients_behind(blocks) && is_list_smaller(usual, blocks, program, config, compiler))
    return HeadGradient::early_in_turn;
  if (!compiler.has(Habit::takes_list_order)) return HeadGradient::habitual;
  if (is_head_gradient_last_in_list(*head, program, config, compiler)) return HeadGradient::habitual;
  const Bytes for_value = logits_for_loss_value(*head->block, head->flow(), head->specs(), *program.mesh, compiler);
  if (for_value.value > 0) return HeadGradient::habitual;  // the list would compute it as soon as that frees them
  const bool smaller = is_list_smaller(usual, blocks, program, config, compiler);
  return smaller ? HeadGradient::early_in_list : HeadGradient::habitual;
}

}  // namespace shardplan
