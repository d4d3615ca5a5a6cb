// Findings about the step as a whole: what takes most of it, and figures that should not be believed as they are.
#include <fmt/format.h>

#include <cost_models/memory/compiler_budget.hpp>
#include <cost_models/partition/products/ragged_dot.hpp>
#include <cost_models/time/cloned_gathers.hpp>
#include <map>
#include <planner/findings/finding_rules.hpp>
#include <shardplan/collective/counted.hpp>
#include <shardplan/compiler/schedule_limit.hpp>
#include <shardplan/step_size.hpp>
#include <tuple>

namespace shardplan {
namespace {

/// What has more than this share of a step (or of its arithmetic) is worth a word.
constexpr double most = 0.5;

/// The arithmetic of one operation in a step, of one device.
double flops_of(const PartitionedBlock& block, std::size_t operation) {
  const OperationWork& work = block.work()[operation];
  const double runs = block.liveness.recomputed[operation] ? 2 : 1;
  return (work.forward.value * runs + work.backward.value) * static_cast<double>(block.block->executions);
}

struct DenseWork {
  double all = 0, needless = 0;  ///< FLOPs of a device and step
  double times = 1;              ///< experts that each row is multiplied with
};

/// Products over expert rows, of which a dense ragged_dot multiplies every row with every local expert.
DenseWork dense_work(const FindingSubject& s) {
  DenseWork work;
  for (const auto& block : s.blocks)
    for (std::size_t i = 0; i < block.work().size(); ++i) {
      const Operation& op = block.block->operations[i];
      const double flops = flops_of(block, i);
      work.all += flops;
      if (!is_ragged_dot(*block.block, op)) continue;
      work.times = local_experts(*block.block, op, s.program) / block.block->row_occupancy;
      work.needless += flops * (1 - 1 / work.times);
    }
  return work;
}

/// What the quantized products of a step multiply; of a step without any bf16.
DType multiplied_type(const FindingSubject& s) {
  for (const auto& block : s.blocks)
    for (const auto& op : block.block->operations)
      if (op.narrow && op.narrow->multiplies_narrow()) return op.narrow->operands;
  return DType::bf16;
}

/// Of the collectives of one operation: what they take if nothing hides.
using OperationKey = std::tuple<BlockId, OperationId, CollectiveKind>;

std::pair<const Collective*, Seconds> costliest(const std::vector<Collective>& collectives) {
  std::map<OperationKey, Seconds> sums;
  std::pair<const Collective*, Seconds> found{nullptr, {}};
  for (const auto& c : collectives) {
    Seconds& sum = sums[{c.block, c.operation, c.kind}];
    sum += c.seconds;
    if (sum > found.second) found = {&c, sum};
  }
  return found;
}

}  // namespace

MaybeFinding dense_ragged_dot(const FindingSubject& s) {
  if (!is_ragged_dot_dense(s.configuration.compiler, s.config())) return std::nullopt;
  const DenseWork work = dense_work(s);
  if (work.all <= 0 || work.needless < most * work.all) return std::nullopt;
  return Finding{FindingId::dense_ragged_dot,
                 Severity::warning,
                 fmt::format("{} computes jax.lax.ragged_dot densely: every row of the expert buffers is multiplied with "
                             "every expert of the device, {:.3g} times what routing asks for and {:.0f}% of the step's "
                             "arithmetic",
                             s.configuration.compiler.family, work.times, 100 * work.needless / work.all),
                 "MoeBlock_0",
                 {},
                 ""};
}

namespace {

/// Rows of experts whose biases' gradients are sums of bfloat16, as many as one sum has.
double rows_of_a_sum(const FindingSubject& s) {
  double rows = 0;
  for (const auto& block : s.blocks)
    for (const OperationWork& work : block.work()) rows = std::max(rows, work.row_sums.rows);
  return rows;
}

}  // namespace

/// On a GPU for which nobody measured it.
MaybeFinding bias_gradients_unpriced(const FindingSubject& s) {
  const HardwareProfile& hardware = s.configuration.hardware;
  const bool is_gpu = !s.configuration.compiler.vector_kernels.fuses_into_products;
  if (!is_gpu || hardware.atomic_additions || rows_of_a_sum(s) == 0) return std::nullopt;
  return Finding{FindingId::bias_gradients_unpriced,
                 Severity::warning,
                 fmt::format("the time that gradients of experts' biases take is not in this step: additions of bfloat16 "
                             "numbers to one row were not measured on {} (on an H200 they took half of a step of "
                             "gpt-oss-20b at 8,192 tokens)",
                             hardware.name),
                 "MoeBlock_0",
                 {},
                 "a profile with atomic_additions"};
}

/// What no published run has: they are of MaxText before December 2025 (3dc998871).
MaybeFinding all_tokens_routed(const FindingSubject& s) {
  constexpr double worth_saying = 0.01, worth_a_warning = 0.1;
  const StepTime& time = s.evaluation.time;
  if (time.all_token_routing <= time.step() * worth_saying) return std::nullopt;
  const bool is_long = time.all_token_routing > time.step() * worth_a_warning;
  return Finding{FindingId::all_tokens_routed,
                 is_long ? Severity::warning : Severity::note,
                 fmt::format("{} a step beside the {} that its other parts add up to: since December 2025 MaxText "
                             "constrains the places to which the dropping path scatters routing weights, so that every "
                             "device scatters the choices of all {} of a step in each layer, number by number; "
                             "computed from the compiler's schedules, nobody has measured it; plans are compared with it",
                             in_words(time.all_token_routing), in_words(time.step()),
                             counted(s.evaluation.global_batch_tokens, "token")),
                 "MoeBlock_0",
                 {},
                 "sparse_matmul=true"};
}

/// Fewer rows at a time are in each other's way: half a batch twice takes half as long, as long as all rows of an expert are
/// on their way at once.
MaybeFinding bias_gradients_wait(const FindingSubject& s) {
  constexpr double worth_a_look = 0.1;
  const Seconds taken = s.evaluation.time.parts.bias_gradients;
  if (taken <= s.evaluation.time.step() * worth_a_look) return std::nullopt;
  return Finding{FindingId::bias_gradients_wait,
                 Severity::warning,
                 fmt::format("gradients of experts' biases take {} of a step of {}: the bfloat16 rows of an expert, {:.0f} "
                             "of them, are added to one row number by number, and a GPU tries each again until no "
                             "other came between",
                             in_words(taken), in_words(s.evaluation.time.step()), rows_of_a_sum(s)),
                 "MoeBlock_0",
                 {},
                 "fewer tokens at a time: a smaller per_device_batch_size, with gradient_accumulation_steps"};
}

MaybeFinding collectives_take_most(const FindingSubject& s) {
  const StepTime& time = s.evaluation.time;
  if (time.exposed_collective < time.with_routing() * most) return std::nullopt;
  const auto [collective, seconds] = costliest(s.evaluation.collectives);
  if (!collective) return std::nullopt;
  const NamedCollective named = s.named(*collective);
  return Finding{FindingId::collectives_take_most,
                 Severity::warning,
                 fmt::format("{} of a step of {} wait for collectives; the costliest are the {}s of {} ({}), {} if "
                             "nothing hid",
                             in_words(time.exposed_collective), in_words(time.with_routing()), name_of(collective->kind),
                             named.op, named.why, in_words(seconds)),
                 named.op,
                 names_of(collective->axes, s.mesh()),
                 ""};
}

MaybeFinding batch_beyond_published(const FindingSubject& s) {
  if (s.evaluation.global_batch_tokens <= largest_published_batch) return std::nullopt;
  return Finding{FindingId::batch_beyond_published,
                 Severity::note,
                 fmt::format("a step of {:.1f}M tokens: the largest published batch is {:.1f}M (DeepSeek-V3); larger "
                             "ones have not been shown to train as well",
                             static_cast<double>(s.evaluation.global_batch_tokens) / 1e6,
                             static_cast<double>(largest_published_batch) / 1e6),
                 "per_device_batch_size",
                 {},
                 "a smaller per_device_batch_size, or context or tensor parallelism in place of fsdp"};
}

/// Published runs multiplied bf16 and utilization is of that peak. A quantized one is held to the same share of the peak
/// of its type.
MaybeFinding mfu_beyond_published(const FindingSubject& s) {
  const HardwareProfile& machine = s.configuration.hardware;
  const bool experts = s.configuration.model.has_experts();
  const DType multiplied = multiplied_type(s);
  const bool narrow = multiplied != DType::bf16;
  const auto& best = experts ? machine.published_mfu_moe : machine.published_mfu_dense;
  const std::optional<Figure> peak = narrow ? narrow_peak(machine, multiplied) : std::optional(machine.peak_bf16);
  if (!best || !peak) return std::nullopt;
  const double mfu = s.evaluation.time.model_flops_utilization;
  const double share = mfu * machine.peak_bf16.value / peak->value;
  if (share <= best->value) return std::nullopt;
  const std::string of_its_peak =
      narrow ? fmt::format(", {:.1f}% of the peak of {},", 100 * share, name_of(multiplied)) : "";
  return Finding{FindingId::mfu_beyond_published,
                 Severity::note,
                 fmt::format("an MFU of {:.1f}%{} is beyond the {:.1f}% that has been published for {} models on {} ({}): "
                             "expect a slower step",
                             100 * mfu, of_its_peak, 100 * best->value, experts ? "mixture-of-experts" : "dense",
                             machine.name, best->source),
                 "time",
                 {},
                 ""};
}

/// What is beyond the compiler's budget becomes synchronous, or is gathered again.
MaybeFinding memory_budget_exceeded(const FindingSubject& s) {
  const MemoryUse& memory = s.evaluation.memory;
  const auto exceeded = exceeded_budget(memory, s.configuration.compiler);
  if (!exceeded || memory.fit() == Fit::does_not_fit) return std::nullopt;
  const bool cloned = clones_combined_gathers(memory, s.configuration.compiler);
  return Finding{FindingId::memory_budget_exceeded,
                 Severity::warning,
                 fmt::format("gradients, activations and temporaries need {:.1f} GiB and the compiler's budget is {:.1f} "
                             "({:.0f}% of what the arguments leave): it makes collectives synchronous and gathers weights "
                             "again{}, so up to {} of communication that is counted as hidden will not be",
                             gibibytes(exceeded->needed), gibibytes(exceeded->budget), 100 * exceeded->share,
                             cloned ? " (the combined ones of the backward pass are counted twice)" : "",
                             in_words(s.evaluation.time.hidden_collective)),
                 "memory",
                 {},
                 "a smaller batch, a leaner remat_policy, or a larger --memory-fraction"};
}

/// XLA:GPU computes again what it can, products and logits, too. Compiled for H100: gemma3-4b and gemma3-27b on 16,
/// llama2-70b on 32, qwen3-30b on 16 and 64, whose hosts hold 59 to 95 GiB of a device, have 29 to 474 instructions that run
/// again, and up to 20% less memory than planned; seven steps of two to six layers, whose hosts hold a few, have none.
MaybeFinding host_values_counted(const FindingSubject& s) {
  const MemoryUse& memory = s.evaluation.memory;
  const auto exceeded = exceeded_with_host(memory, s.program, s.blocks, s.configuration.compiler);
  if (!exceeded || memory.fit() == Fit::does_not_fit) return std::nullopt;
  const Bytes on_host = exceeded->needed - (memory.peak() - memory.arguments());
  return Finding{FindingId::host_values_counted,
                 Severity::note,
                 fmt::format("the compiler counts the {:.1f} GiB that the remat policy moves to the host as if the device "
                             "held them, {:.1f} GiB in all of a budget of {:.1f}: it computes again what it can, products, "
                             "too, which is not counted (a tenth of a step of qwen3-30b), and needs up to a fifth less "
                             "memory",
                             gibibytes(on_host), gibibytes(exceeded->needed), gibibytes(exceeded->budget)),
                 "memory",
                 {},
                 "a remat_policy that moves nothing to the host, where it fits"};
}

/// Combined into one, a layer's gathers have to end before the first of its weights is used.
MaybeFinding combined_weights_exposed(const FindingSubject& s) {
  constexpr double worth_saying = 0.05;
  const Compiler& compiler = s.configuration.compiler;
  const bool combines = std::any_of(std::begin(combine_thresholds), std::end(combine_thresholds),
                                    [&](CompilerSetting threshold) { return compiler.settings.contains(threshold); });
  Seconds exposed;
  for (const Collective& c : s.evaluation.collectives)
    if (c.parameter) exposed += c.exposed;
  if (!combines || exposed.value < worth_saying * s.evaluation.time.step().value) return std::nullopt;
  return Finding{
      FindingId::combined_weights_exposed,
      Severity::warning,
      fmt::format("XLA's combine thresholds make one collective of a layer's weights, which has to end before the "
                  "first of them is used, where one after the other would hide behind products: {} a step are "
                  "waited for",
                  in_words(exposed)),
      "xla_flags",
      {},
      "XLA's default combine thresholds"};
}

/// XLA's rematerialization pass clones all-gathers of a program that would exceed its limit, in one order or the other, of
/// weights and of activations (plan_deepseek3671b_tpuv5p_128: 44 GB more over tensor).
MaybeFinding gathers_expected_again(const FindingSubject& s) {
  const MemoryUse& memory = s.evaluation.memory;
  if (!s.configuration.compiler.has(Habit::clones_gathers_near_limit) || memory.fit() == Fit::does_not_fit)
    return std::nullopt;
  const Bytes peak = std::max(memory.peak(), memory.if_head_waits);
  const double share = static_cast<double>(peak.value) / static_cast<double>(memory.capacity.value);
  if (share <= schedule_limit) return std::nullopt;
  if (clones_combined_gathers(memory, s.configuration.compiler)) return std::nullopt;  // counted already
  const Traffic gathered = traffic_of(s, [](const Collective& c) {
    return c.purpose() == CollectiveKind::all_gather && c.phase != Phase::forward && c.phase != Phase::optimizer;
  });
  if (gathered.empty()) return std::nullopt;
  return Finding{FindingId::gathers_expected_again,
                 Severity::note,
                 fmt::format("at {:.1f}% of the memory{} the compiler may gather weights and activations of the backward "
                             "pass a second time rather than keep them: up to {} more",
                             100 * share, peak > memory.peak() ? ", if the head's weight gradient comes last," : "",
                             in_words(gathered)),
                 "memory",
                 {},
                 "a smaller batch or a leaner remat_policy"};
}

}  // namespace shardplan
