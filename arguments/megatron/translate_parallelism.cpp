#include <fmt/ranges.h>

#include <arguments/megatron/translation.hpp>
#include <shardplan/error.hpp>

namespace shardplan {
namespace {

std::string_view communication_of(ContextStrategy strategy) {
  switch (strategy) {
    case ContextStrategy::all_gather:
      return "all_gather";
    case ContextStrategy::ring:
      return "p2p";
    case ContextStrategy::ulysses:
      return "a2a";
    case ContextStrategy::usp:
      return "a2a+p2p";
  }
  throw InternalError("unknown ContextStrategy");
}

void translate_pipeline(const Configuration& c, const ParallelGroups& groups, Translation& to) {
  if (groups.pipeline == 1) return;
  to.flag("--pipeline-model-parallel-size", groups.pipeline);
  if (c.config.num_pipeline_repeats > 1)
    to.flag("--num-layers-per-virtual-pipeline-stage", c.config.num_layers_per_pipeline_stage);
  to.missing(
      "the circular pipeline",
      "Megatron-LM runs one forward, one backward: as large a bubble, but fewer microbatches' activations in memory");
  if (c.config.pipeline_parallel_layers > 0 && c.config.pipeline_parallel_layers < c.model.layers)
    to.missing(fmt::format("{} layers outside of the pipeline", c.model.layers - c.config.pipeline_parallel_layers),
               "Megatron-LM puts every layer into a stage (--pipeline-model-parallel-layout)");
}

/// Muon has no FSDP there: what the weights' shards hold of its state, its distributed optimizer splits by layers.
void translate_copies(const Configuration& c, const ParallelGroups& groups, Translation& to) {
  if (c.config.shard_optimizer_over_data || groups.weight_shards > 1) to.flag("--use-distributed-optimizer");
  if (groups.weight_shards > 1)
    to.missing(fmt::format("weights in {} shards under opt_type={}", groups.weight_shards, name_of(c.config.opt_type)),
               "Megatron-FSDP has adam and sgd alone: weights are copies, their optimizer's state is split by layers");
}

/// Megatron-FSDP shards over data and context together.
void translate_weights(const Configuration& c, const ParallelGroups& groups, Translation& to) {
  const std::int64_t replicas = groups.data * groups.context;
  if (!fully_sharded(c, groups)) return translate_copies(c, groups, to);
  to.flag("--use-megatron-fsdp");
  to.flag("--data-parallel-sharding-strategy", "optim_grads_params");
  to.flag("--ckpt-format", "fsdp_dtensor");
  if (groups.weight_shards == replicas) return;
  to.flag("--num-distributed-optimizer-instances", replicas / groups.weight_shards);
  if (c.config.shard_optimizer_over_data) to.flag("--outer-dp-sharding-strategy", "optim");
}

DeviceConnections connections_of(const Configuration& c, const ParallelGroups& groups) {
  if (fully_sharded(c, groups)) return DeviceConnections::more_or_unset;
  return groups.tensor > 1 || groups.context > 1 ? DeviceConnections::one : DeviceConnections::any;
}

void translate_experts(const Configuration& c, const ParallelGroups& groups, Translation& to) {
  if (!c.model.has_experts()) return;
  to.flag("--expert-model-parallel-size", groups.expert);
  to.flag("--expert-tensor-parallel-size", groups.expert_tensor);
  to.flag("--moe-token-dispatcher-type", c.config.moe_path == MoePath::ring ? "allgather" : "alltoall");
  if (c.config.moe_path != MoePath::dropping) return to.flag("--moe-grouped-gemm");
  to.flag("--moe-expert-capacity-factor", c.config.capacity_factor);
  to.flag("--moe-pad-expert-input-to-capacity");
}

void translate_what_is_left(const Configuration& c, const ParallelGroups& groups, Translation& to) {
  if (!groups.unused.empty())
    to.missing(fmt::format("mesh axis {}", fmt::join(groups.unused, ", ")),
               fmt::format("the rules of {} split neither batch, sequence, heads nor layers over it", c.rules.name));
  if (!groups.elsewhere.empty())
    to.missing(fmt::format("mesh axis {} between attention layers", fmt::join(groups.elsewhere, ", ")),
               "it splits another dim there than in attention; Megatron-LM's groups are the same in both");
  if (groups.tensor > 1 && groups.expert > 1 && !groups.sequence_parallel)
    to.missing("tensor parallelism that leaves the sequence whole",
               "beside experts Megatron-LM wants --sequence-parallel, which is said");
}

}  // namespace

bool fully_sharded(const Configuration& c, const ParallelGroups& groups) {
  return groups.weight_shards > 1 && c.config.opt_type != OptimizerType::muon;
}

void translate_parallelism(const Configuration& c, const ParallelGroups& groups, Translation& to) {
  to.flag("--tensor-model-parallel-size", groups.tensor);
  if (groups.tensor > 1 && (groups.sequence_parallel || groups.expert > 1)) to.flag("--sequence-parallel");
  if (groups.context > 1) {
    to.flag("--context-parallel-size", groups.context);
    to.flag("--cp-comm-type", communication_of(c.config.context_parallel_strategy));
  }
  translate_pipeline(c, groups, to);
  translate_experts(c, groups, to);
  translate_weights(c, groups, to);
  to.connections(connections_of(c, groups));
  translate_what_is_left(c, groups, to);
}

}  // namespace shardplan
