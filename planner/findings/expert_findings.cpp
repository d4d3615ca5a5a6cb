// Findings about mixture-of-experts layers. On the dropping path the places of the expert axes decide
// (SHARDING semantics of MaxText layers/moe.py; PR #4179 is the first case):
//   on the masks' batch, not on the dispatch's experts   expert weights are gathered       expert-axis-stolen
//   on both                                              tokens are exchanged              (all-to-all)
//   not on the batch, on the dispatch's experts          tokens are gathered               missing-all-to-all
//   on neither                                           tokens and what experts make of
//                                                        them are gathered                  missing-all-to-all, an error
#include <fmt/format.h>

#include <cost_models/partition/products/ragged_dot.hpp>
#include <planner/findings/axis_in_rule.hpp>
#include <planner/findings/finding_rules.hpp>
#include <planner/findings/sparse_path.hpp>

namespace shardplan {
namespace {

std::vector<std::string> expert_axis_names(const FindingSubject& s) {
  return names_of(s.program.expert_axes, s.mesh());
}

std::string to_sparse_path(const FindingSubject& s) {
  return sparse_path_words(s.config(), on_sparse_path(s.configuration).config);
}

std::string expert_axes_text(const FindingSubject& s) { return join_axes(expert_axis_names(s)); }

bool over_expert_axes(const Collective& c, const FindingSubject& s) { return overlap(c.axes, s.program.expert_axes); }

bool is_dropping(const FindingSubject& s) { return s.config().moe_path == MoePath::dropping; }

/// Of the features that experts contract.
AxisList contracted_axes(const PartitionedBlock& block, TensorId tensor) {
  return axes_of(block.block->tensors[tensor], block.specs()[tensor], {Dim::embed});
}

/// Whether an expert axis splits this dim of this tensor of the first mixture layer.
bool expert_axis_on(TensorRole role, Dim dim, const FindingSubject& s) {
  for (const auto& block : s.blocks)
    for (std::size_t i = 0; block.block->mixture && i < block.specs().size(); ++i) {
      const Tensor& candidate = block.block->tensors[i];
      if (candidate.role != role) continue;
      for (std::size_t d = 0; d < candidate.dims.size(); ++d)
        if (candidate.dims[d].dim == dim) return overlap(block.specs()[i].dims[d], s.program.expert_axes);
    }
  return false;
}

bool splits_mask_batch(const FindingSubject& s) { return expert_axis_on(TensorRole::dispatch_mask, Dim::batch, s); }
bool splits_dispatched_experts(const FindingSubject& s) {
  return expert_axis_on(TensorRole::dispatched_tokens, Dim::experts, s);
}

std::string ways_to_split_experts(const RuleSet& rules) {
  const std::string axis(name_of(AxisRole::expert));
  std::string ways;
  for (const char* logical : rules_of_experts)
    if (!names_axis(rules, logical, axis))
      ways += (ways.empty() ? "" : ", and ") + offer_axes(rules, logical, {axis}).words;
  return ways;
}

/// Both rules with the axes, and the flag that keeps the batch from taking them alone.
std::string ways_to_exchange(const RuleSet& rules, const std::vector<std::string>& axes) {
  std::string ways;
  for (const char* logical : rules_of_dispatch) ways += offer_axes(rules, logical, axes).words + ", and ";
  return ways + "moe_dispatch_no_expert_sharding=True";
}

/// The mesh has an `expert` axis above 1, and no rule gives it to the experts.
MaybeFinding experts_not_split(const FindingSubject& s) {
  const auto axis = s.mesh().find(AxisRole::expert);
  if (!s.configuration.model.has_experts() || !s.program.expert_axes.empty() || !axis || s.mesh().size(*axis) == 1)
    return std::nullopt;
  const bool by_design = s.configuration.model.rules.override_rules && !s.rules().custom;
  return Finding{FindingId::missing_all_to_all,
                 by_design ? Severity::note : Severity::warning,
                 fmt::format("the mesh has expert={}, but no rule `exp` gives it to the experts: every device of that "
                             "axis computes all experts and no tokens are exchanged",
                             s.mesh().size(*axis)),
                 "MoeBlock_0",
                 names_of({AxisRole::expert}),
                 ways_to_split_experts(s.rules()),
                 rules_named(s.rules(), {"exp", "activation_exp"})};
}

/// By all that a mixture layer does but its routing.
bool is_made_by_experts(const Collective& c, const FindingSubject& s) {
  const Operation* op = s.operation_of(c);
  return op && op->module == Module::mixture && op->kind != OpKind::routing;
}

/// What both rules of the dispatch do to the expert axes; as grave as its traffic is long.
struct DispatchFinding {
  FindingId id;
  Severity severity;
  std::string message, place, fix;
};

Finding over_dispatch_rules(DispatchFinding said, const Traffic& moved, const FindingSubject& s) {
  Finding finding{said.id,
                  said.severity,
                  std::move(said.message),
                  std::move(said.place),
                  expert_axis_names(s),
                  std::move(said.fix),
                  rules_named(s.rules(), {"activation_batch_moe", "activation_exp"})};
  finding.extent = moved.seconds.value;
  return finding;
}

/// Neither the batch nor the experts of the dispatch are split over the experts' axes.
MaybeFinding experts_left_off_dispatch(const FindingSubject& s) {
  const Traffic moved = traffic_of(s, [&](const Collective& c) {
    return over_expert_axes(c, s) && (is_expert_weight(c, s) || is_made_by_experts(c, s));
  });
  if (moved.empty()) return std::nullopt;
  const std::string message = fmt::format(
      "rules activation_batch_moe and activation_exp both leave '{0}' off the dispatch: in place of an all-to-all of "
      "the routed tokens, all of them, and all that experts make of them, are gathered over '{0}', {1}",
      expert_axes_text(s), in_words(moved));
  return over_dispatch_rules({FindingId::missing_all_to_all, Severity::error, message,
                              "MoeBlock_0/dispatch, wi_0, wi_1, wo", ways_to_exchange(s.rules(), expert_axis_names(s))},
                             moved, s);
}

}  // namespace

MaybeFinding expert_axis_stolen(const FindingSubject& s) {
  if (!is_dropping(s) || s.program.expert_axes.empty()) return std::nullopt;
  if (!splits_mask_batch(s) || splits_dispatched_experts(s)) return std::nullopt;
  const Traffic weights =
      traffic_of(s, [&](const Collective& c) { return over_expert_axes(c, s) && is_expert_weight(c, s); });
  if (weights.empty()) return std::nullopt;
  const std::string message = fmt::format(
      "expert double-mapping: rule activation_batch_moe gives '{0}' to the batch dim of the dispatch before "
      "activation_exp can, so every expert's weights (wi_0, wi_1, wo) are gathered over '{0}' and their gradients "
      "reduced instead of tokens being exchanged: {1}",
      expert_axes_text(s), in_words(weights));
  return over_dispatch_rules({FindingId::expert_axis_stolen, Severity::error, message, "MoeBlock_0/wi_0, wi_1, wo",
                              "moe_dispatch_no_expert_sharding=True"},
                             weights, s);
}

/// The dispatch is peeled, the output of wo isn't: beside a second batch axis wo falls back to being gathered.
MaybeFinding expert_output_not_peeled(const FindingSubject& s) {
  if (!is_dropping(s) || !s.config().moe_dispatch_no_expert_sharding) return std::nullopt;
  const Traffic weights = traffic_of(s, [&](const Collective& c) {
    return over_expert_axes(c, s) && is_expert_output_weight(c, s);
  });
  if (weights.empty()) return std::nullopt;
  const std::string message = fmt::format(
      "moe_dispatch_no_expert_sharding keeps experts on '{0}' up to wo, but the constraint on wo's output puts that "
      "axis back on the batch beside a second batch axis: wo is gathered over '{0}', {1}",
      expert_axes_text(s), in_words(weights));
  return over_dispatch_rules({FindingId::expert_output_not_peeled, Severity::warning, message, "MoeBlock_0/wo",
                              to_sparse_path(s) + ", or '" + expert_axes_text(s) + "' as the only axis of the batch"},
                             weights, s);
}

MaybeFinding missing_all_to_all(const FindingSubject& s) {
  if (auto finding = experts_not_split(s)) return finding;
  if (!is_dropping(s) || s.program.expert_axes.empty() || splits_mask_batch(s)) return std::nullopt;
  if (!splits_dispatched_experts(s)) return experts_left_off_dispatch(s);
  const Traffic tokens = traffic_of(s, [&](const Collective& c) {
    return !c.parameter && over_expert_axes(c, s) && is_made_by_experts(c, s);
  });
  if (tokens.empty()) return std::nullopt;
  const std::string message = fmt::format(
      "rule activation_batch_moe leaves '{0}' off the batch: in place of an all-to-all of the routed tokens, all "
      "tokens are gathered over '{0}' before the dispatch and summed after the combine, {1}",
      expert_axes_text(s), in_words(tokens));
  return over_dispatch_rules({FindingId::missing_all_to_all, Severity::warning, message,
                              "MoeBlock_0/dispatch, combine", to_sparse_path(s)},
                             tokens, s);
}

MaybeFinding worst_case_rows(const FindingSubject& s) {
  for (const auto& block : s.blocks) {
    if (!block.block->mixture || block.block->row_occupancy >= 0.999 || s.config().ragged_buffer_factor > 0) continue;
    const bool is_ring = s.config().moe_path == MoePath::ring;  // there the factor needs use_ragged_sort
    const bool dense = is_ragged_dot_dense(s.configuration.compiler, s.config());
    Finding finding{
        FindingId::worst_case_rows,
        dense ? Severity::warning : Severity::note,
        fmt::format("expert buffers hold the worst case of routing, {:.3g} times the rows of balanced "
                    "routing; {} with them{}",
                    1 / block.block->row_occupancy, dense ? "memory and compute grow" : "memory grows",
                    s.mesh().size_of(AxisRole::tensor) > 1 ? ", and so does the reduce-scatter of wo over 'tensor'"
                                                           : ""),
        "MoeBlock_0",
        expert_axis_names(s),
        is_ring ? "use_ring_of_experts=False with ragged_buffer_factor (drops tokens beyond it)"
                : "ragged_buffer_factor (drops tokens beyond it)"};
    finding.extent = 1 / block.block->row_occupancy;
    return finding;
  }
  return std::nullopt;
}

MaybeFinding expert_features_split_apart(const FindingSubject& s) {
  if (!is_dropping(s)) return std::nullopt;
  for (const auto& block : s.blocks)
    for (const auto& op : block.block->operations) {
      if (op.role != OperationRole::expert_projection) continue;
      const TensorId tokens = op.inputs[0], weight = op.inputs[1];
      const AxisList of_tokens = contracted_axes(block, tokens);
      const AxisList of_weight = without(contracted_axes(block, weight), axes_of(block.specs()[tokens]));
      if (of_tokens.empty() || of_weight.empty()) continue;
      AxisList both = of_weight;
      for (const AxisId axis : of_tokens) both.push_back(axis);
      return Finding{FindingId::expert_features_split_apart,
                     Severity::warning,
                     fmt::format("features of experts' weights are split over {}, those of their tokens over {}: the "
                                 "compiler moves tokens from one to the other, which is not counted (seven compiled "
                                 "programs moved 0.97 to 1.7 times as many bytes as predicted, in other collectives)",
                                 join_axes(names_of(of_weight, s.mesh())), join_axes(names_of(of_tokens, s.mesh()))),
                     op.name,
                     names_of(both, s.mesh()),
                     "one of these axes alone, or sparse_matmul=true"};
    }
  return std::nullopt;
}

/// The sparse path names wi_1's output only moe_mlpwi_1, which no policy `minimal…` has in its list.
MaybeFinding minimal_recomputes_wi_1(const FindingSubject& s) {
  const auto& saved = s.config().saved;
  if (!s.config().runs_sparse_experts() || !saved.contains("mlpwi_0") || saved.contains("moe_mlpwi_1")) return std::nullopt;
  return Finding{FindingId::minimal_recomputes_wi_1,
                 Severity::note,
                 fmt::format("remat_policy={} saves the output of wi_0 but not of wi_1, which the sparse path names "
                             "moe_mlpwi_1 only: wi_1 is computed again in the backward pass",
                             s.config().remat_policy),
                 "MoeBlock_0/wi_1",
                 {},
                 ""};
}

}  // namespace shardplan
