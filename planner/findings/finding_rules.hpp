#pragma once
// One function a finding: nothing where it does not bite. Private to this room.
#include <optional>
#include <planner/findings/subject.hpp>
#include <vector>

namespace shardplan {

using MaybeFinding = std::optional<Finding>;

// expert_findings.cpp
MaybeFinding expert_axis_stolen(const FindingSubject& subject);
MaybeFinding expert_output_not_peeled(const FindingSubject& subject);
MaybeFinding missing_all_to_all(const FindingSubject& subject);
MaybeFinding worst_case_rows(const FindingSubject& subject);
MaybeFinding minimal_recomputes_wi_1(const FindingSubject& subject);
MaybeFinding expert_features_split_apart(const FindingSubject& subject);

// attention_findings.cpp
MaybeFinding sequence_gathered_for_attention(const FindingSubject& subject);
MaybeFinding attention_replicated(const FindingSubject& subject);
MaybeFinding expanded_key_value_gathered(const FindingSubject& subject);
MaybeFinding context_unbalanced(const FindingSubject& subject);
MaybeFinding attention_ignores_cap(const FindingSubject& subject);
MaybeFinding attention_ignores_windows(const FindingSubject& subject);
MaybeFinding attention_in_small_blocks(const FindingSubject& subject);

// weight_findings.cpp
MaybeFinding weights_not_sharded(const FindingSubject& subject);
/// Whether there is such a finding, without its words.
bool leaves_weights_unsharded(const std::vector<PartitionedBlock>& blocks, const Configuration& configuration);
MaybeFinding layer_stack_reshard(const FindingSubject& subject);
MaybeFinding optimizer_shards_permuted(const FindingSubject& subject);
MaybeFinding offloaded_parameters_come_back(const FindingSubject& subject);
MaybeFinding whole_weights_beside_shards(const FindingSubject& subject);

// step_findings.cpp
MaybeFinding dense_ragged_dot(const FindingSubject& subject);
MaybeFinding all_tokens_routed(const FindingSubject& subject);
MaybeFinding bias_gradients_wait(const FindingSubject& subject);
MaybeFinding bias_gradients_unpriced(const FindingSubject& subject);
MaybeFinding collectives_take_most(const FindingSubject& subject);
MaybeFinding batch_beyond_published(const FindingSubject& subject);
MaybeFinding mfu_beyond_published(const FindingSubject& subject);
MaybeFinding memory_budget_exceeded(const FindingSubject& subject);
MaybeFinding host_values_counted(const FindingSubject& subject);
MaybeFinding combined_weights_exposed(const FindingSubject& subject);
MaybeFinding collective_matmul(const FindingSubject& subject);
MaybeFinding gathers_expected_again(const FindingSubject& subject);

// collective_findings.cpp
MaybeFinding unexpected_all_gather(const FindingSubject& subject);
MaybeFinding unexpected_all_reduce(const FindingSubject& subject);
MaybeFinding all_reduce_where_reduce_scatter_suffices(const FindingSubject& subject);

// setting_findings.cpp
MaybeFinding custom_rules_drop_model_rules(const FindingSubject& subject);
MaybeFinding logits_sequence_gathered(const FindingSubject& subject);
MaybeFinding context_lost_in_explicit_mode(const FindingSubject& subject);
MaybeFinding explicit_pipeline(const FindingSubject& subject);
MaybeFinding quantized_experts_need_linen(const FindingSubject& subject);
MaybeFinding mixed_precision_needs_linen(const FindingSubject& subject);
MaybeFinding mixed_precision_names_nothing(const FindingSubject& subject);
MaybeFinding transformer_engine_unrecorded(const FindingSubject& subject);
MaybeFinding expert_rows_returned_whole(const FindingSubject& subject);
MaybeFinding mesh_does_not_fit_torus(const FindingSubject& subject);
MaybeFinding custom_mesh_ignored(const FindingSubject& subject);
MaybeFinding places_ignored(const FindingSubject& subject);
std::vector<Finding> ignored_axes(const FindingSubject& subject);

}  // namespace shardplan
