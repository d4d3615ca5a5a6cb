#pragma once
// What a MaxText engineer should be told about a configuration, a rule set or a compiled program.
#include <cstdint>
#include <optional>
#include <shardplan/infeasible.hpp>
#include <shardplan/mesh/sharding.hpp>
#include <shardplan/units.hpp>
#include <string>
#include <string_view>
#include <vector>

namespace shardplan {

enum class Severity : std::uint8_t { note, warning, error };
std::string_view name_of(Severity severity);

/// What a finding is about. The published ids (name_of) are stable: docs/check.md and docs/audit.md list them.
enum class FindingId : std::uint8_t {
  // Attention.
  sequence_gathered_for_attention,
  attention_replicated,
  expanded_key_value_gathered,
  context_unbalanced,
  attention_ignores_windows,
  attention_ignores_cap,
  // Mixtures of experts.
  expert_axis_stolen,
  expert_output_not_peeled,
  missing_all_to_all,
  worst_case_rows,
  minimal_recomputes_wi_1,
  expert_features_split_apart,
  // Weights and the optimizer.
  weights_not_sharded,
  layer_stack_reshard,
  optimizer_shards_permuted,
  zero1_whole_weights,
  offloaded_parameters_come_back,
  // Collectives that nothing asks for, and those that are not there.
  unexpected_all_gather,
  unexpected_all_reduce,
  unexpected_all_to_all,
  unexpected_collective_permute,
  all_reduce_where_reduce_scatter_suffices,
  less_traffic_than_expected,
  other_arguments,
  groups_match_no_axes,
  rematerialized_all_gather,
  // The step as a whole.
  dense_ragged_dot,
  all_tokens_routed,
  bias_gradients_wait,
  bias_gradients_unpriced,
  collectives_take_most,
  batch_beyond_published,
  mfu_beyond_published,
  memory_budget_exceeded,
  host_values_counted,
  memory_under_flags,
  combined_weights_exposed,
  collective_matmul,
  gathers_expected_again,
  attention_in_small_blocks,
  // Settings and rules.
  activations_replicated,
  activations_resharded,
  axis_ignored,
  context_lost_in_explicit_mode,
  custom_mesh_ignored,
  custom_rules_drop_arguments,
  custom_rules_drop_model_rules,
  explicit_pipeline,
  quantized_experts_need_linen,
  mixed_precision_needs_linen,
  mixed_precision_names_nothing,
  transformer_engine_unrecorded,
  expert_rows_returned_whole,
  logits_sequence_gathered,
  mesh_does_not_fit_torus,
  places_ignored,
  rule_axis_unknown,
  rule_name_unknown,
  rule_unreachable,
  // What an earlier check has otherwise.
  slower_than_baseline,
  refused_since_baseline,
  // Constraints that a configuration breaks.
  indivisible_dim,
  memory_exceeded,
  refused,  ///< any other; published under the constraint's own id (published_id)
};
std::string_view name_of(FindingId finding);  ///< "expert-axis-stolen"

/// What kind of thing a finding says, and when its fix is worth an offer.
struct FindingTraits {
  FindingId id;
  std::string_view name;
  bool about_the_step = false;      ///< about one run's time, memory and batch, not its rules: `check` leaves it out
  bool wrong = false;               ///< MaxText refuses it, or trains another model, whatever the fix costs
  bool mended_by_settings = false;  ///< its fix is offered where a run with it was costed and starts; what others say of
                                    ///< rules and meshes stands for itself
  bool offer = false;               ///< said only where the fix pays: as it is, MaxText sets it
  bool about_left_out_axis = false;  ///< a rule leaves an axis out that it could name
  bool about_waiting = false;  ///< mended by a shorter step, not by less communication: it moves as much without
  bool undoes_saving = false;  ///< its fix takes back a setting that is there for its memory
  bool misspelling = false;    ///< a name in a rule that is nobody's, so that the rule does nothing

  /// Said of a run as it is, not of a layout whatever its size: its fix has to fit and to shorten the step.
  bool about_the_run() const { return about_the_step || offer; }
  /// A rule may name any axis: only where that pays should it.
  bool said_where_it_pays() const { return offer || about_left_out_axis; }
};

const FindingTraits& traits_of(FindingId finding);

/// What a step with a finding's fix spares; below 0 where the fix costs more than it spares.
struct FindingCost {
  Bytes bytes;          ///< per device, of the collectives
  Seconds collectives;  ///< if nothing overlapped
  Seconds compute;
  Seconds step;
  Seconds host{};       ///< copies to and from its memory, if nothing overlapped
};

/// A step and the same with a finding's fix, under other flags of the compiler than those given.
struct CostUnderFlags {
  std::vector<std::string> flags;  ///< "--xla_gpu_enable_latency_hiding_scheduler=true"; none: the compiler's defaults
  std::string source;              ///< the published run that sets them; empty of the defaults
  Seconds step, fixed_step;
};

struct Finding {
  FindingId id = FindingId::expert_axis_stolen;
  Severity severity = Severity::note;
  std::string message;                      ///< one sentence with numbers
  std::string where;                        ///< tensor or rule
  std::vector<std::string> axes;            ///< mesh axes; of a rule set's findings also those that no mesh has
  std::string fix;                          ///< a flag or a rule line
  std::vector<Rule> rules = {};             ///< the sharding rules behind it
  std::vector<std::size_t> rule_indices = {};  ///< theirs in the set, where it may have several alike; empty: not said
  std::optional<FindingCost> cost = {};     ///< empty: nobody has costed the fix
  std::vector<CostUnderFlags> under_flags = {};  ///< where they make another of what the fix spares
  std::optional<ConstraintId> broken = {};  ///< where the id is `refused`
  double extent = 0;  ///< how much of it there is, in seconds, times or bytes: only of one id can be compared

  bool is_like(const Finding& other) const { return id == other.id && broken == other.broken; }
};

/// "expert-axis-stolen"; of a refused configuration the id of the constraint that it breaks.
std::string_view published_id(const Finding& finding);

/// All that a finding may have, each once: those of findings, then those of constraints.
std::vector<std::string> published_ids();

}  // namespace shardplan
