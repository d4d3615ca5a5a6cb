// Collectives of activations that no parallelism of MaxText needs: two rules that should agree don't.
#include <fmt/format.h>

#include <planner/findings/axis_in_rule.hpp>
#include <planner/findings/finding_rules.hpp>
#include <rules/resolve.hpp>

namespace shardplan {
namespace {

bool is_layer_activation(const Collective& c, const FindingSubject& s) {
  const Operation* op = s.operation_of(c);
  if (c.parameter || !op) return false;
  return op->module == Module::attention || op->module == Module::mlp || op->module == Module::shared_experts;
}

/// Not one that a compiler all-reduces over a whole slice, though shards are wanted.
bool is_partial_sum(const Collective& c) {
  return c.kind == CollectiveKind::all_reduce && c.phase == Phase::forward &&
         c.cause == Cause::contracted_dim_split && !overlap(c.axes, axes_of(c.to));
}

/// Axes over which features are split on purpose: Megatron's tensor parallelism.
AxisList feature_axes(const FindingSubject& s) {
  AxisList axes;
  for (const char* name : {"heads", "q_heads", "mlp", "mlp_moe"})
    for (const AxisId axis : axes_of_rule(s.rules(), s.mesh(), name)) axes.push_back(axis);
  return axes;
}

/// Where the step meets such a collective first, and what all of that kind cost.
struct Met {
  NamedCollective first;
  std::vector<std::string> axes;
  std::string over;  ///< the axes in words
  std::int64_t group_size = 1;
  Traffic traffic;
};

template <class Matches>
std::optional<Met> first_and_all(const FindingSubject& s, Matches matches) {
  const auto& all = s.evaluation.collectives;
  const auto first = std::find_if(all.begin(), all.end(), matches);
  if (first == all.end()) return std::nullopt;
  const auto axes = names_of(first->axes, s.mesh());
  return Met{s.named(*first), axes, join_axes(axes), first->group_size, traffic_of(s, matches)};
}

}  // namespace

/// Activations of attention or MLP that are gathered over an axis of the batch: activation_batch and the rule of that
/// tensor's batch dim disagree. A kernel outside shard_map gathers its operands over every axis: attention-replicated.
MaybeFinding unexpected_all_gather(const FindingSubject& s) {
  const AxisList batch = axes_of_rule(s.rules(), s.mesh(), "activation_batch");
  const auto found = first_and_all(s, [&](const Collective& c) {
    return c.purpose() == CollectiveKind::all_gather && is_layer_activation(c, s) && !is_of(OpKind::attention, c, s) &&
           overlap(c.axes, batch);
  });
  if (!found) return std::nullopt;
  const auto& [named, axes, over, group_size, traffic] = *found;
  Finding finding{
      FindingId::unexpected_all_gather,
      Severity::error,
      fmt::format("activations are gathered over '{}', an axis of the batch, because the rules of their batch "
                  "dims disagree ({}): {}",
                  over, named.why, in_words(traffic)),
      named.op,
      axes,
      "give activation_batch, activation_batch_attn and activation_kv_batch the same axes",
      rules_named(s.rules(), {"activation_batch", "activation_batch_attn", "activation_kv_batch"})};
  finding.extent = traffic.seconds.value;
  return finding;
}

/// Activations summed over an axis that is not there to split features: a rule splits a contracted dim over it.
MaybeFinding unexpected_all_reduce(const FindingSubject& s) {
  const AxisList features = feature_axes(s);
  const auto found = first_and_all(s, [&](const Collective& c) {
    return is_partial_sum(c) && is_layer_activation(c, s) && !overlap(c.axes, features);
  });
  if (!found) return std::nullopt;
  const auto& [named, axes, over, group_size, traffic] = *found;
  Finding finding{
      FindingId::unexpected_all_reduce,
      Severity::error,
      fmt::format("activations are summed over '{}', which splits no heads and no MLP features: a rule puts it "
                  "on a dim that is contracted ({}): {}",
                  over, named.why, in_words(traffic)),
      named.op,
      axes,
      "leave '" + over + "' out of the rules of that dim",
      rules_named(s.rules(), {"activation_embed", "activation_embed_attn", "activation_mlp", "embed"})};
  finding.extent = traffic.seconds.value;
  return finding;
}

/// Tensor parallelism whose sums are kept whole on every device although the residual stream could stay split.
MaybeFinding all_reduce_where_reduce_scatter_suffices(const FindingSubject& s) {
  const AxisList features = feature_axes(s);
  const auto found = first_and_all(
      s, [&](const Collective& c) { return is_partial_sum(c) && is_layer_activation(c, s) && overlap(c.axes, features); });
  if (!found) return std::nullopt;
  const auto& [named, axes, over, group_size, traffic] = *found;
  if (names_axis(s.rules(), "activation_embed", over)) return std::nullopt;  // it is split; the sum is of something else
  Finding finding{FindingId::all_reduce_where_reduce_scatter_suffices,
                  Severity::note,
                  fmt::format("partial sums over '{}' are all-reduced, because no rule splits the hidden state over it: "
                              "norms and residuals are computed and kept {} times, {}",
                              over, group_size, in_words(traffic)),
                  named.op,
                  axes,
                  "add ['activation_embed', ['" + over + "']] to the rules",
                  rules_named(s.rules(), {"activation_embed", "activation_norm_length"})};
  finding.extent = traffic.seconds.value;
  return finding;
}

}  // namespace shardplan
