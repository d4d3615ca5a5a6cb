// Findings about attention layers.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <planner/findings/axis_in_rule.hpp>
#include <planner/findings/finding_rules.hpp>
#include <rules/resolve.hpp>
#include <shardplan/attention/kernel_limits.hpp>
#include <shardplan/attention/splash_blocks.hpp>

namespace shardplan {
namespace {

/// Axes that split the hidden state's sequence and are missing from the rule of the attention inputs.
AxisList lost_axes(const FindingSubject& s) {
  const AxisList kept = axes_of_rule(s.rules(), s.mesh(), "activation_input_length_attn");
  return without(axes_of_rule(s.rules(), s.mesh(), "activation_norm_length"), kept);
}

bool is_attention_input_gather(const Collective& c, const FindingSubject& s) {
  if (c.purpose() != CollectiveKind::all_gather || c.parameter) return false;
  const Tensor* tensor = s.tensor_of(c);
  if (tensor && tensor->role == TensorRole::attention_input) return true;
  // What a joint projection reads under that constraint is gathered as what it was before.
  const Operation* op = s.operation_of(c);
  const auto& tensors = s.program.program->blocks.at(c.block).tensors;
  return op && op->kind == OpKind::einsum && tensors.at(op->inputs.front()).role == TensorRole::attention_input;
}

}  // namespace

/// No custom set of MaxText has a rule for activation_input_length_attn: GQA inputs lose their split of the sequence.
MaybeFinding sequence_gathered_for_attention(const FindingSubject& s) {
  const AxisList lost = lost_axes(s);
  if (lost.empty()) return std::nullopt;
  const Traffic gathered =
      traffic_of(s, [&](const Collective& c) { return is_attention_input_gather(c, s) && overlap(c.axes, lost); });
  if (gathered.empty()) return std::nullopt;
  const auto axes = names_of(lost, s.mesh());
  Finding finding{FindingId::sequence_gathered_for_attention,
                  Severity::warning,
                  fmt::format("rule set '{}' gives activation_input_length_attn no '{}', which splits the sequence of "
                              "the hidden state: attention inputs are gathered along the sequence, {}",
                              s.rules().name, join_axes(axes), in_words(gathered)),
                  "self_attention",
                  axes,
                  offer_axes(s.rules(), "activation_input_length_attn", axes).words,
                  rules_named(s.rules(), {"activation_input_length_attn", "activation_norm_length"})};
  finding.extent = gathered.seconds.value;
  return finding;
}

MaybeFinding attention_replicated(const FindingSubject& s) {
  const AttentionKernel attention = s.config().attention;
  const Compiler& compiler = s.configuration.compiler;
  const bool by_name = attention == AttentionKernel::flash || attention == AttentionKernel::autoselected;
  if (!compiler.has(Habit::attention_outside_shard_map) || !by_name) return std::nullopt;
  const Traffic gathered = traffic_of(s, [&](const Collective& c) { return is_of(OpKind::attention, c, s); });
  if (gathered.empty()) return std::nullopt;
  return Finding{FindingId::attention_replicated,
                 Severity::error,
                 fmt::format("attention={} runs outside shard_map on {}: q, k and v are gathered whole and attention "
                             "is computed on every device, {}",
                             name_of(attention), compiler.family, in_words(gathered)),
                 "self_attention/attention_op",
                 {},
                 fmt::format("attention={}", name_of(compiler.kernels.attention))};
}

/// Multi-head latent attention exchanges keys and values after their up-projection: for deepseek3 40,960 elements a
/// token, where the latent that they are computed from has 576.
MaybeFinding expanded_key_value_gathered(const FindingSubject& s) {
  const Model& model = s.configuration.model;
  const AxisList context = axes_of_rule(s.rules(), s.mesh(), "activation_length");
  if (model.attention_type != AttentionType::mla || context.empty()) return std::nullopt;
  if (s.config().context_parallel_strategy != ContextStrategy::all_gather) return std::nullopt;
  const Traffic gathered = traffic_of(s, [&](const Collective& c) {
    return c.purpose() == CollectiveKind::all_gather && is_of(OpKind::attention, c, s) && overlap(c.axes, context);
  });
  if (gathered.empty()) return std::nullopt;
  const std::int64_t expanded = model.q_heads * (model.qk_nope_head_dim + model.qk_rope_head_dim + model.v_head_dim);
  Finding finding{
      FindingId::expanded_key_value_gathered,
      Severity::note,
      fmt::format("context parallelism gathers the expanded keys and values of latent attention, {} elements "
                  "a token where the latent has {}: {}",
                  expanded, model.kv_lora_rank + model.qk_rope_head_dim, in_words(gathered)),
      "self_attention/attention_op",
      names_of(context, s.mesh()),
      "less context parallelism"};
  finding.extent = gathered.seconds.value;
  return finding;
}

namespace {

/// Axes whose devices each have a run of the queries while the kernel works.
AxisList axes_of_runs(const FindingSubject& s) {
  AxisList axes = axes_of_rule(s.rules(), s.mesh(), "activation_length");
  const ContextStrategy strategy = s.config().context_parallel_strategy;
  if (strategy == ContextStrategy::ulysses) return {};
  const auto exchanged = s.mesh().find(AxisRole::context_usp_ulysses);
  if (strategy == ContextStrategy::usp && exchanged) axes = without(axes, {*exchanged});
  return axes;
}

/// Of the layers' kinds that which it hits hardest.
double busiest_run(const FindingSubject& s, std::int64_t runs) {
  double busiest = 1;
  for (const Block& block : s.program.program->blocks)
    for (const Operation& op : block.operations)
      if (op.kind == OpKind::attention)
        busiest = std::max(busiest, busiest_slice(s.program.program->sequence, op.attention_window, runs));
  return busiest;
}

}  // namespace

MaybeFinding context_unbalanced(const FindingSubject& s) {
  constexpr double as_good_as_balanced = 1.01;
  if (s.config().context_parallel_load_balance || s.config().attention == AttentionKernel::dot_product) return std::nullopt;
  const AxisList axes = axes_of_runs(s);
  const std::int64_t runs = s.mesh().product(axes);
  const double busiest = busiest_run(s, runs);
  if (busiest < as_good_as_balanced) return std::nullopt;
  const auto names = names_of(axes, s.mesh());
  return Finding{FindingId::context_unbalanced,
                 Severity::warning,
                 fmt::format("context_parallel_load_balance=false: of {} runs of the sequence over {} the busiest attends "
                             "to {:.2f} times the keys of the average, and every device waits for it",
                             runs, join_axes(names), busiest),
                 "self_attention/attention_op",
                 names,
                 "context_parallel_load_balance=true"};
}

/// MaxText gives other kernels no cap and doesn't say so.
MaybeFinding attention_ignores_cap(const FindingSubject& s) {
  const AttentionKernel attention = s.config().attention;
  const Model& model = s.configuration.model;
  if (!ignores_cap(model, s.configuration.compiler.kernels, s.config())) return std::nullopt;
  return Finding{FindingId::attention_ignores_cap,
                 Severity::warning,
                 fmt::format("MaxText gives attention={} no attn_logits_soft_cap: scores that {} caps aren't capped, which "
                             "trains another model",
                             name_of(attention), model.name),
                 "self_attention/attention_op",
                 {},
                 "attention=dot_product"};
}

/// MaxText gives such a kernel a causal mask alone and doesn't say so.
MaybeFinding attention_ignores_windows(const FindingSubject& s) {
  const Kernels& kernels = s.configuration.compiler.kernels;
  const AttentionKernel attention = s.config().attention;
  const AttentionPattern& pattern = s.configuration.model.attention_pattern;
  const std::int64_t sequence = s.program.program->sequence;
  if (!ignores_windows(s.configuration.model, kernels, s.config())) return std::nullopt;
  return Finding{FindingId::attention_ignores_windows,
                 Severity::warning,
                 fmt::format("MaxText gives attention={} no window: layers that should attend to {} tokens attend to all "
                             "of {} before a query, another model than {}'s, and slower",
                             name_of(attention), pattern.window, sequence, s.configuration.model.name),
                 "self_attention/attention_op",
                 {},
                 attention == kernels.attention ? "packing=false" : fmt::format("attention={}", name_of(kernels.attention))};
}

/// Blocks that somebody chose are nobody's oversight.
MaybeFinding attention_in_small_blocks(const FindingSubject& s) {
  constexpr double worth_a_look = 0.02;
  const Seconds attention = s.evaluation.time.parts.attention;
  const bool fused = s.config().fuses_attention_gradients();
  if (!has_default_splash_blocks(s.config()) || !runs_splash(s.config(), s.configuration.compiler)) return std::nullopt;
  if (attention < s.evaluation.time.with_routing() * worth_a_look) return std::nullopt;
  return Finding{FindingId::attention_in_small_blocks,
                 Severity::note,
                 fmt::format("attention runs in MaxText's own blocks of {} queries and keys{}: {} of a step of {}",
                             default_splash_blocks.size,
                             fused ? "" : ", and its gradients in two kernels that compute the scores anew",
                             in_words(attention), in_words(s.evaluation.time.with_routing())),
                 "self_attention/attention_op",
                 {},
                 fmt::format("larger sa_block_*{}", fused ? "" : ", sa_use_fused_bwd_kernel=true")};
}

}  // namespace shardplan
