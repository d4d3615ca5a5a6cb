#include <algorithm>
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

std::string_view name_of(FindingId finding) {
  switch (finding) {
    case FindingId::activations_replicated:
      return "activations-replicated";
    case FindingId::activations_resharded:
      return "activations-resharded";
    case FindingId::refused_since_baseline:
      return "refused-since-baseline";
    case FindingId::slower_than_baseline:
      return "slower-than-baseline";
    case FindingId::context_unbalanced:
      return "context-unbalanced";
    case FindingId::attention_ignores_windows:
      return "attention-ignores-windows";
    case FindingId::expert_axis_stolen:
      return "expert-axis-stolen";
    case FindingId::expert_output_not_peeled:
      return "expert-output-not-peeled";
    case FindingId::missing_all_to_all:
      return "missing-all-to-all";
    case FindingId::worst_case_rows:
      return "worst-case-rows";
    case FindingId::all_tokens_routed:
      return "all-tokens-routed";
    case FindingId::bias_gradients_wait:
      return "bias-gradients-wait";
    case FindingId::bias_gradients_unpriced:
      return "bias-gradients-unpriced";
    case FindingId::minimal_recomputes_wi_1:
      return "minimal-recomputes-wi-1";
    case FindingId::expert_features_split_apart:
      return "expert-features-split-apart";
    case FindingId::sequence_gathered_for_attention:
      return "sequence-gathered-for-attention";
    case FindingId::attention_replicated:
      return "attention-replicated";
    case FindingId::expanded_key_value_gathered:
      return "expanded-key-value-gathered";
    case FindingId::weights_not_sharded:
      return "weights-not-sharded";
    case FindingId::layer_stack_reshard:
      return "layer-stack-reshard";
    case FindingId::optimizer_shards_permuted:
      return "optimizer-shards-permuted";
    case FindingId::zero1_whole_weights:
      return "zero1-whole-weights";
    case FindingId::unexpected_all_gather:
      return "unexpected-all-gather";
    case FindingId::unexpected_all_reduce:
      return "unexpected-all-reduce";
    case FindingId::unexpected_all_to_all:
      return "unexpected-all-to-all";
    case FindingId::unexpected_collective_permute:
      return "unexpected-collective-permute";
    case FindingId::all_reduce_where_reduce_scatter_suffices:
      return "all-reduce-where-reduce-scatter-suffices";
    case FindingId::less_traffic_than_expected:
      return "less-traffic-than-expected";
    case FindingId::other_arguments:
      return "other-arguments";
    case FindingId::groups_match_no_axes:
      return "groups-match-no-axes";
    case FindingId::rematerialized_all_gather:
      return "rematerialized-all-gather";
    case FindingId::dense_ragged_dot:
      return "dense-ragged-dot";
    case FindingId::collectives_take_most:
      return "collectives-take-most";
    case FindingId::batch_beyond_published:
      return "batch-beyond-published";
    case FindingId::mfu_beyond_published:
      return "mfu-beyond-published";
    case FindingId::memory_under_flags:
      return "memory-under-flags";
    case FindingId::memory_budget_exceeded:
      return "memory-budget-exceeded";
    case FindingId::host_values_counted:
      return "host-values-counted";
    case FindingId::combined_weights_exposed:
      return "combined-weights-exposed";
    case FindingId::collective_matmul:
      return "collective-matmul";
    case FindingId::gathers_expected_again:
      return "gathers-expected-again";
    case FindingId::attention_in_small_blocks:
      return "attention-in-small-blocks";
    case FindingId::axis_ignored:
      return "axis-ignored";
    case FindingId::context_lost_in_explicit_mode:
      return "context-lost-in-explicit-mode";
    case FindingId::custom_rules_drop_arguments:
      return "custom-rules-drop-arguments";
    case FindingId::custom_rules_drop_model_rules:
      return "custom-rules-drop-model-rules";
    case FindingId::explicit_pipeline:
      return "explicit-pipeline";
    case FindingId::expert_rows_returned_whole:
      return "expert-rows-returned-whole";
    case FindingId::quantized_experts_need_linen:
      return "quantized-experts-need-linen";
    case FindingId::offloaded_parameters_come_back:
      return "offloaded-parameters-come-back";
    case FindingId::mixed_precision_needs_linen:
      return "mixed-precision-needs-linen";
    case FindingId::mixed_precision_names_nothing:
      return "mixed-precision-names-nothing";
    case FindingId::transformer_engine_unrecorded:
      return "transformer-engine-unrecorded";
    case FindingId::logits_sequence_gathered:
      return "logits-sequence-gathered";
    case FindingId::places_ignored:
      return "places-ignored";
    case FindingId::custom_mesh_ignored:
      return "custom-mesh-ignored";
    case FindingId::mesh_does_not_fit_torus:
      return "mesh-does-not-fit-torus";
    case FindingId::rule_axis_unknown:
      return "rule-axis-unknown";
    case FindingId::rule_name_unknown:
      return "rule-name-unknown";
    case FindingId::rule_unreachable:
      return "rule-unreachable";
    case FindingId::indivisible_dim:
      return "indivisible-dim";
    case FindingId::memory_exceeded:
      return "memory-exceeded";
    case FindingId::refused:
      return "refused";
  }
  throw InternalError("unknown FindingId");
}

bool is_about_the_step(FindingId finding) {
  return finding >= FindingId::dense_ragged_dot && finding <= FindingId::attention_in_small_blocks;
}

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

bool is_misspelling(FindingId id) { return id == FindingId::rule_name_unknown || id == FindingId::rule_axis_unknown; }

}  // namespace shardplan
