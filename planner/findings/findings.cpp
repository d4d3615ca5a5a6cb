#include <planner/findings/finding_rules.hpp>
#include <planner/findings/findings.hpp>

namespace shardplan {

std::vector<Finding> findings_of(const Configuration& configuration, const BoundProgram& program,
                                 const std::vector<PartitionedBlock>& blocks, const Evaluation& evaluation) {
  constexpr MaybeFinding (*rules[])(const FindingSubject&) = {expert_axis_stolen,
                                                              expert_output_not_peeled,
                                                              missing_all_to_all,
                                                              worst_case_rows,
                                                              minimal_recomputes_wi_1,
                                                              expert_features_split_apart,
                                                              sequence_gathered_for_attention,
                                                              attention_replicated,
                                                              expanded_key_value_gathered,
                                                              context_unbalanced,
                                                              attention_ignores_cap,
                                                              attention_ignores_windows,
                                                              weights_not_sharded,
                                                              layer_stack_reshard,
                                                              optimizer_shards_permuted,
                                                              whole_weights_beside_shards,
                                                              offloaded_parameters_come_back,
                                                              unexpected_all_gather,
                                                              unexpected_all_reduce,
                                                              all_reduce_where_reduce_scatter_suffices,
                                                              custom_rules_drop_model_rules,
                                                              logits_sequence_gathered,
                                                              context_lost_in_explicit_mode,
                                                              explicit_pipeline,
                                                              quantized_experts_need_linen,
                                                              mixed_precision_needs_linen,
                                                              mixed_precision_names_nothing,
                                                              transformer_engine_unrecorded,
                                                              expert_rows_returned_whole,
                                                              dense_ragged_dot,
                                                              all_tokens_routed,
                                                              bias_gradients_wait,
                                                              bias_gradients_unpriced,
                                                              collectives_take_most,
                                                              batch_beyond_published,
                                                              mfu_beyond_published,
                                                              memory_budget_exceeded,
                                                              host_values_counted,
                                                              combined_weights_exposed,
                                                              collective_matmul,
                                                              gathers_expected_again,
                                                              attention_in_small_blocks,
                                                              mesh_does_not_fit_torus,
                                                              custom_mesh_ignored,
                                                              places_ignored};
  const FindingSubject subject{configuration, program, blocks, evaluation};
  std::vector<Finding> findings;
  for (const auto rule : rules)
    if (auto finding = rule(subject)) findings.push_back(std::move(*finding));
  for (auto& finding : ignored_axes(subject)) findings.push_back(std::move(finding));
  return findings;
}

std::optional<Finding> unsharded_weights(const Configuration& configuration, const BoundProgram& program,
                                         const std::vector<PartitionedBlock>& blocks,
                                         const std::vector<Collective>& collectives) {
  if (!leaves_weights_unsharded(blocks, configuration)) return std::nullopt;
  Evaluation moved;
  moved.collectives = collectives;
  return weights_not_sharded({configuration, program, blocks, moved});
}

}  // namespace shardplan
