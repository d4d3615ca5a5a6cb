#include <algorithm>
#include <iterator>
#include <shardplan/error.hpp>
#include <shardplan/finding.hpp>

namespace shardplan {

std::string_view name_of(Severity severity) {
  switch (severity) {
    case Severity::note:
      return "note";
    case Severity::warning:
      return "warning";
    case Severity::error:
      return "error";
  }
  throw InternalError("unknown Severity");
}

namespace {

using Id = FindingId;

constexpr FindingTraits finding_table[] = {
    // Attention.
    {.id = Id::sequence_gathered_for_attention, .name = "sequence-gathered-for-attention"},
    {.id = Id::attention_replicated, .name = "attention-replicated", .mended_by_settings = true},
    {.id = Id::expanded_key_value_gathered, .name = "expanded-key-value-gathered"},
    {.id = Id::context_unbalanced, .name = "context-unbalanced", .mended_by_settings = true, .about_waiting = true},
    {.id = Id::attention_ignores_windows,
     .name = "attention-ignores-windows",
     .wrong = true,
     .mended_by_settings = true},
    {.id = Id::attention_ignores_cap, .name = "attention-ignores-cap", .wrong = true, .mended_by_settings = true},
    // Mixtures of experts.
    {.id = Id::expert_axis_stolen, .name = "expert-axis-stolen", .mended_by_settings = true},
    {.id = Id::expert_output_not_peeled, .name = "expert-output-not-peeled", .mended_by_settings = true},
    {.id = Id::missing_all_to_all, .name = "missing-all-to-all"},
    {.id = Id::worst_case_rows, .name = "worst-case-rows"},
    {.id = Id::minimal_recomputes_wi_1, .name = "minimal-recomputes-wi-1", .offer = true},
    {.id = Id::expert_features_split_apart, .name = "expert-features-split-apart"},
    // Weights and the optimizer.
    {.id = Id::weights_not_sharded, .name = "weights-not-sharded", .wrong = true},
    {.id = Id::layer_stack_reshard, .name = "layer-stack-reshard"},
    {.id = Id::optimizer_shards_permuted, .name = "optimizer-shards-permuted", .undoes_saving = true},
    {.id = Id::zero1_whole_weights, .name = "zero1-whole-weights"},
    {.id = Id::offloaded_parameters_come_back,
     .name = "offloaded-parameters-come-back",
     .mended_by_settings = true,
     .about_waiting = true,
     .undoes_saving = true},
    // Collectives that nothing asks for, and those that are not there.
    {.id = Id::unexpected_all_gather, .name = "unexpected-all-gather"},
    {.id = Id::unexpected_all_reduce, .name = "unexpected-all-reduce"},
    {.id = Id::unexpected_all_to_all, .name = "unexpected-all-to-all"},
    {.id = Id::unexpected_collective_permute, .name = "unexpected-collective-permute"},
    {.id = Id::all_reduce_where_reduce_scatter_suffices, .name = "all-reduce-where-reduce-scatter-suffices"},
    {.id = Id::less_traffic_than_expected, .name = "less-traffic-than-expected"},
    {.id = Id::other_arguments, .name = "other-arguments"},
    {.id = Id::groups_match_no_axes, .name = "groups-match-no-axes"},
    {.id = Id::rematerialized_all_gather, .name = "rematerialized-all-gather"},
    // The step as a whole.
    {.id = Id::dense_ragged_dot, .name = "dense-ragged-dot", .about_the_step = true},
    {.id = Id::all_tokens_routed, .name = "all-tokens-routed", .about_the_step = true},
    {.id = Id::bias_gradients_wait, .name = "bias-gradients-wait", .about_the_step = true},
    {.id = Id::bias_gradients_unpriced, .name = "bias-gradients-unpriced", .about_the_step = true},
    {.id = Id::collectives_take_most, .name = "collectives-take-most", .about_the_step = true},
    {.id = Id::batch_beyond_published, .name = "batch-beyond-published", .about_the_step = true},
    {.id = Id::mfu_beyond_published, .name = "mfu-beyond-published", .about_the_step = true},
    {.id = Id::memory_budget_exceeded, .name = "memory-budget-exceeded", .about_the_step = true},
    {.id = Id::host_values_counted, .name = "host-values-counted", .about_the_step = true},
    {.id = Id::memory_under_flags, .name = "memory-under-flags", .about_the_step = true},
    {.id = Id::combined_weights_exposed, .name = "combined-weights-exposed", .about_the_step = true},
    {.id = Id::collective_matmul, .name = "collective-matmul", .about_the_step = true},
    {.id = Id::gathers_expected_again, .name = "gathers-expected-again", .about_the_step = true},
    {.id = Id::attention_in_small_blocks, .name = "attention-in-small-blocks", .about_the_step = true, .offer = true},
    // Settings and rules.
    {.id = Id::activations_replicated, .name = "activations-replicated", .about_left_out_axis = true},
    {.id = Id::activations_resharded, .name = "activations-resharded", .about_left_out_axis = true},
    {.id = Id::axis_ignored, .name = "axis-ignored"},
    {.id = Id::context_lost_in_explicit_mode, .name = "context-lost-in-explicit-mode"},
    {.id = Id::custom_mesh_ignored, .name = "custom-mesh-ignored"},
    {.id = Id::custom_rules_drop_arguments, .name = "custom-rules-drop-arguments"},
    {.id = Id::custom_rules_drop_model_rules, .name = "custom-rules-drop-model-rules"},
    {.id = Id::explicit_pipeline, .name = "explicit-pipeline"},
    {.id = Id::quantized_experts_need_linen, .name = "quantized-experts-need-linen"},
    {.id = Id::mixed_precision_needs_linen, .name = "mixed-precision-needs-linen"},
    {.id = Id::mixed_precision_names_nothing, .name = "mixed-precision-names-nothing"},
    {.id = Id::transformer_engine_unrecorded, .name = "transformer-engine-unrecorded"},
    {.id = Id::expert_rows_returned_whole,
     .name = "expert-rows-returned-whole",
     .wrong = true,
     .mended_by_settings = true},
    {.id = Id::logits_sequence_gathered, .name = "logits-sequence-gathered"},
    {.id = Id::mesh_does_not_fit_torus, .name = "mesh-does-not-fit-torus"},
    {.id = Id::places_ignored, .name = "places-ignored"},
    {.id = Id::rule_axis_unknown, .name = "rule-axis-unknown", .misspelling = true},
    {.id = Id::rule_name_unknown, .name = "rule-name-unknown", .misspelling = true},
    {.id = Id::rule_unreachable, .name = "rule-unreachable"},
    // What an earlier check has otherwise.
    {.id = Id::slower_than_baseline, .name = "slower-than-baseline"},
    {.id = Id::refused_since_baseline, .name = "refused-since-baseline"},
    // Constraints that a configuration breaks.
    {.id = Id::indivisible_dim, .name = "indivisible-dim"},
    {.id = Id::memory_exceeded, .name = "memory-exceeded"},
    {.id = Id::refused, .name = "refused"},
};

constexpr bool is_in_order() {
  for (std::size_t i = 0; i < std::size(finding_table); ++i)
    if (static_cast<std::size_t>(finding_table[i].id) != i) return false;
  return std::size(finding_table) == static_cast<std::size_t>(Id::refused) + 1;
}
static_assert(is_in_order());

}  // namespace

const FindingTraits& traits_of(FindingId finding) {
  const auto index = static_cast<std::size_t>(finding);
  if (index >= std::size(finding_table)) throw InternalError("unknown FindingId");
  return finding_table[index];
}

std::string_view name_of(FindingId finding) { return traits_of(finding).name; }

std::string_view published_id(const Finding& finding) {
  return finding.id == FindingId::refused && finding.broken ? name_of(*finding.broken) : name_of(finding.id);
}

std::vector<std::string> published_ids() {
  std::vector<std::string> ids;
  const auto add = [&](std::string_view id) {
    if (std::find(ids.begin(), ids.end(), id) == ids.end()) ids.emplace_back(id);
  };
  for (int i = 0; i < static_cast<int>(FindingId::refused); ++i) add(name_of(static_cast<FindingId>(i)));
  for (const ConstraintId constraint : all_constraints()) add(name_of(constraint));
  return ids;
}

}  // namespace shardplan
