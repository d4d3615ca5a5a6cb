#include <algorithm>
#include <array>
#include <memory>
#include <shardplan/compiler/compiler.hpp>
#include <shardplan/error.hpp>
#include <utility>

namespace shardplan {
namespace {

using Named = std::pair<Habit, std::string_view>;

constexpr std::array habit_names{
    Named{Habit::gathers_moe_layer_weights_twice, "gathers_moe_layer_weights_twice"},
    Named{Habit::gathers_activations_per_consumer, "gathers_activations_per_consumer"},
    Named{Habit::attention_outside_shard_map, "attention_outside_shard_map"},
    Named{Habit::copies_stacked_parameters, "copies_stacked_parameters"},
    Named{Habit::makes_stacks_layer_major, "makes_stacks_layer_major"},
    Named{Habit::holds_experts_of_stages, "holds_experts_of_stages"},
    Named{Habit::gathers_held_experts_again, "gathers_held_experts_again"},
    Named{Habit::copies_uncast_stages, "copies_uncast_stages"},
    Named{Habit::moves_stacks_in_compute_dtype, "moves_stacks_in_compute_dtype"},
    Named{Habit::defers_head_gradient, "defers_head_gradient"},
    Named{Habit::ragged_dot_is_dense, "ragged_dot_is_dense"},
    Named{Habit::all_reduces_over_whole_slices, "all_reduces_over_whole_slices"},
    Named{Habit::gathers_whole_slices_by_all_reduce, "gathers_whole_slices_by_all_reduce"},
    Named{Habit::gathers_outer_halves_by_all_reduce, "gathers_outer_halves_by_all_reduce"},
    Named{Habit::sums_shards_and_copies_at_once, "sums_shards_and_copies_at_once"},
    Named{Habit::sums_over_several_dims_at_once, "sums_over_several_dims_at_once"},
    Named{Habit::narrows_float32_operands, "narrows_float32_operands"},
    Named{Habit::splits_sliced_sums, "splits_sliced_sums"},
    Named{Habit::gathers_dim_by_dim, "gathers_dim_by_dim"},
    Named{Habit::transposes_grouped_scores, "transposes_grouped_scores"},
    Named{Habit::splits_keys_of_single_queries, "splits_keys_of_single_queries"},
    Named{Habit::decomposes_ragged_exchanges, "decomposes_ragged_exchanges"},
    Named{Habit::whole_mesh_operands_first, "whole_mesh_operands_first"},
    Named{Habit::contracts_whole_dims, "contracts_whole_dims"},
    Named{Habit::orders_shards_before_gathers, "orders_shards_before_gathers"},
    Named{Habit::exchanges_dim_by_dim, "exchanges_dim_by_dim"},
    Named{Habit::gathers_before_exchanges, "gathers_before_exchanges"},
    Named{Habit::gathers_rows_over_other_axes, "gathers_rows_over_other_axes"},
    Named{Habit::slices_tokens_only, "slices_tokens_only"},
    Named{Habit::sends_expert_rows, "sends_expert_rows"},
    Named{Habit::slices_combine_masks, "slices_combine_masks"},
    Named{Habit::gathers_smaller_of_table_and_rows, "gathers_smaller_of_table_and_rows"},
    Named{Habit::orders_rows_of_split_words, "orders_rows_of_split_words"},
    Named{Habit::looks_through_all_rows, "looks_through_all_rows"},
    Named{Habit::exchanges_picked_projections, "exchanges_picked_projections"},
    Named{Habit::reduces_drained_repeat, "reduces_drained_repeat"},
    Named{Habit::explicit_pipelines_sum_after_cast, "explicit_pipelines_sum_after_cast"},
    Named{Habit::merges_single_layer_scan, "merges_single_layer_scan"},
    Named{Habit::parts_single_layer_scans, "parts_single_layer_scans"},
    Named{Habit::gathers_again_in_cycles, "gathers_again_in_cycles"},
    Named{Habit::gathers_narrow_heads_again, "gathers_narrow_heads_again"},
    Named{Habit::reduces_after_pipeline, "reduces_after_pipeline"},
    Named{Habit::moves_shifted_layer_stacks, "moves_shifted_layer_stacks"},
    Named{Habit::returns_moment_updates, "returns_moment_updates"},
    Named{Habit::prefetches_next_layer, "prefetches_next_layer"},
    Named{Habit::recomputes_cycles_together, "recomputes_cycles_together"},
    Named{Habit::orthogonalizes_matrices_together, "orthogonalizes_matrices_together"},
    Named{Habit::casts_repeats_twice, "casts_repeats_twice"},
    Named{Habit::collects_repeat_gradients, "collects_repeat_gradients"},
    Named{Habit::fuses_masks, "fuses_masks"},
    Named{Habit::keeps_lookup_masks, "keeps_lookup_masks"},
    Named{Habit::fuses_activations, "fuses_activations"},
    Named{Habit::fuses_hidden_rows, "fuses_hidden_rows"},
    Named{Habit::computes_norms_where_read, "computes_norms_where_read"},
    Named{Habit::shares_gradients_of_sums, "shares_gradients_of_sums"},
    Named{Habit::cuts_kernel_operands, "cuts_kernel_operands"},
    Named{Habit::keeps_tanh, "keeps_tanh"},
    Named{Habit::leaves_gradients_behind_scans, "leaves_gradients_behind_scans"},
    Named{Habit::shares_gathered_tables, "shares_gathered_tables"},
    Named{Habit::gathers_tables_again_behind_scans, "gathers_tables_again_behind_scans"},
    Named{Habit::budgets_temporaries, "budgets_temporaries"},
    Named{Habit::clones_gathers_near_limit, "clones_gathers_near_limit"},
    Named{Habit::peels_offloading_loops, "peels_offloading_loops"},
    Named{Habit::sends_late_without_loops, "sends_late_without_loops"},
    Named{Habit::keeps_unsorted_rows, "keeps_unsorted_rows"},
    Named{Habit::runs_expert_weight_gradients_last, "runs_expert_weight_gradients_last"},
    Named{Habit::recomputes_expert_output_last, "recomputes_expert_output_last"},
    Named{Habit::makes_hidden_rows_with_gradients, "makes_hidden_rows_with_gradients"},
    Named{Habit::overwrites_last_projection, "overwrites_last_projection"},
    Named{Habit::sums_expert_gradients_together, "sums_expert_gradients_together"},
    Named{Habit::writes_product_operands, "writes_product_operands"},
    Named{Habit::runs_kept_weight_gradients_last, "runs_kept_weight_gradients_last"},
    Named{Habit::runs_cycle_weight_gradients_last, "runs_cycle_weight_gradients_last"},
    Named{Habit::turns_kept_rows, "turns_kept_rows"},
    Named{Habit::overwrites_logits, "overwrites_logits"},
    Named{Habit::overwrites_scaled_logits, "overwrites_scaled_logits"},
    Named{Habit::overwrites_capped_logits, "overwrites_capped_logits"},
    Named{Habit::makes_loss_value_with_gradient, "makes_loss_value_with_gradient"},
    Named{Habit::narrows_cast_gradients, "narrows_cast_gradients"},
    Named{Habit::pads_to_tiles, "pads_to_tiles"},
    Named{Habit::turns_beside_compute, "turns_beside_compute"},
    Named{Habit::slices_before_larger_gathers, "slices_before_larger_gathers"},
    Named{Habit::gathers_mask_gradients, "gathers_mask_gradients"},
    Named{Habit::gathers_operands_whole, "gathers_operands_whole"},
    Named{Habit::sums_unmatched_shards_whole, "sums_unmatched_shards_whole"},
    Named{Habit::gathers_tables_up_to_rows, "gathers_tables_up_to_rows"},
    Named{Habit::defers_larger_head_gradient, "defers_larger_head_gradient"},
    Named{Habit::takes_list_order, "takes_list_order"},
    Named{Habit::lists_kept_experts_apart, "lists_kept_experts_apart"},
    Named{Habit::lists_cycles_of_mixtures, "lists_cycles_of_mixtures"},
    Named{Habit::widens_returned_rows, "widens_returned_rows"},
    Named{Habit::frees_under_pressure, "frees_under_pressure"},
    Named{Habit::looks_up_rotations_twice, "looks_up_rotations_twice"},
    Named{Habit::copies_weights_for_update, "copies_weights_for_update"},
    Named{Habit::keeps_softmax_statistics, "keeps_softmax_statistics"},
    Named{Habit::all_reduces_indivisible_words, "all_reduces_indivisible_words"},
    Named{Habit::pads_scattered_rows, "pads_scattered_rows"},
    Named{Habit::pads_rows_to_tiles, "pads_rows_to_tiles"},
    Named{Habit::scatters_even_tiles_of_experts, "scatters_even_tiles_of_experts"},
    Named{Habit::scatters_even_tiles, "scatters_even_tiles"},
    Named{Habit::scatters_even_tiles_of_activations, "scatters_even_tiles_of_activations"},
    Named{Habit::computes_loss_value_late, "computes_loss_value_late"},
    Named{Habit::computes_capped_loss_value_late, "computes_capped_loss_value_late"},
    Named{Habit::lays_out_products_by_size, "lays_out_products_by_size"},
    Named{Habit::permutes_before_gathers, "permutes_before_gathers"},
    Named{Habit::runs_weight_gradients_beside_collectives, "runs_weight_gradients_beside_collectives"},
    Named{Habit::runs_split_layers_as_read, "runs_split_layers_as_read"},
    Named{Habit::multiplies_in_rings, "multiplies_in_rings"},
    Named{Habit::gathers_for_each_tile, "gathers_for_each_tile"},
    Named{Habit::makes_head_gradient_before_offloaded, "makes_head_gradient_before_offloaded"},
};

constexpr auto habits = [] {
  std::array<Habit, habit_names.size()> all{};
  for (std::size_t i = 0; i < all.size(); ++i) all[i] = habit_names[i].first;
  return all;
}();
static_assert(habits.size() <= HabitSet::capacity);

}  // namespace

std::span<const Habit> all_habits() { return habits; }

std::string_view name_of(Habit habit) {
  const auto named = [&](const Named& row) { return row.first == habit; };
  const auto found = std::find_if(habit_names.begin(), habit_names.end(), named);
  if (found == habit_names.end()) throw InternalError("a habit without a name");
  return found->second;
}

std::string_view name_of(FlagEffect effect) {
  switch (effect) {
    case FlagEffect::modelled:
      return "modelled";
    case FlagEffect::none:
      return "none";
    case FlagEffect::not_modelled:
      return "not_modelled";
    case FlagEffect::unknown:
      return "unknown";
    case FlagEffect::foreign:
      return "foreign";
  }
  throw InternalError("unknown FlagEffect");
}

std::optional<Bytes> Compiler::setting(CompilerSetting setting) const {
  const auto given = settings.find(setting);
  return given == settings.end() ? std::nullopt : std::optional(given->second);
}

bool Compiler::has(Habit habit, const HeadShare& head) const {
  const auto sizes = head_sizes.find(habit);
  return has(habit) && (sizes == head_sizes.end() || sizes->second.has(head));
}

Compiler with_flags(const Compiler& compiler, std::vector<CompilerFlag> flags) {
  Compiler changed = compiler.unflagged ? *compiler.unflagged : compiler;
  if (flags.empty()) return changed;
  changed.unflagged = std::make_shared<const Compiler>(changed);
  std::sort(flags.begin(), flags.end(), [](const auto& a, const auto& b) { return a.name < b.name; });
  for (const CompilerFlag& flag : flags) {
    const FlagChange& change = flag.change;
    for (const auto& [habit, has] : change.switches) has ? changed.habits.add(habit) : changed.habits.remove(habit);
    if (change.setting) changed.settings.insert_or_assign(change.setting->first, change.setting->second);
    if (change.power_state) changed.power_state = change.power_state;
    if (change.host_copies) changed.overlap.host_copies = *change.host_copies;
    if (change.window_covers_gather) changed.overlap.window_covers_gather = *change.window_covers_gather;
    for (const CollectiveKind kind : change.asynchronous) changed.overlap.asynchronous.set(kind, change.on);
    for (const CollectiveKind kind : change.pipelined) changed.overlap.pipelined.set(kind, change.on);
  }
  changed.flags = std::move(flags);
  return changed;
}

Compiler with_recipe_flags(const Compiler& compiler, bool has_experts) {
  const auto recipe = std::find_if(compiler.assumed.begin(), compiler.assumed.end(),
                                   [&](const AssumedFlags& flags) { return flags.of_mixtures == has_experts; });
  if (recipe == compiler.assumed.end()) return compiler;
  Compiler changed = with_flags(compiler, recipe->flags);
  changed.flags_assumed_from = recipe->source;
  return changed;
}

/// That flags switch and that say which buffers a program has: of a run that was given no flags they are the compiler's own.
constexpr Habit habits_of_buffers[] = {Habit::writes_product_operands, Habit::runs_kept_weight_gradients_last,
                                       Habit::defers_head_gradient, Habit::makes_head_gradient_before_offloaded};

Compiler with_assumed_flags(const Compiler& compiler, bool has_experts) {
  Compiler changed = with_recipe_flags(compiler, has_experts);
  for (const Habit habit : habits_of_buffers)
    compiler.has(habit) ? changed.habits.add(habit) : changed.habits.remove(habit);
  return changed;
}

std::string print_flag(const CompilerFlag& flag) { return "--" + flag.name + "=" + flag.value; }

std::vector<std::string> print_flags(const std::vector<CompilerFlag>& flags) {
  std::vector<std::string> words;
  for (const CompilerFlag& flag : flags)
    if (flag.effect != FlagEffect::foreign) words.push_back(print_flag(flag));
  return words;
}

std::string_view name_of(GroupedMatmul kernel) {
  switch (kernel) {
    case GroupedMatmul::megablox:
      return "megablox";
    case GroupedMatmul::ragged_dot:
      return "ragged_dot";
  }
  throw InternalError("unknown GroupedMatmul");
}

std::span<const CompilerSetting> all_compiler_settings() {
  static constexpr CompilerSetting all[] = {
      CompilerSetting::scoped_vmem_limit, CompilerSetting::all_gather_combine_threshold,
      CompilerSetting::reduce_scatter_combine_threshold, CompilerSetting::all_reduce_combine_threshold};
  return all;
}

std::string_view name_of(CompilerSetting setting) {
  switch (setting) {
    case CompilerSetting::scoped_vmem_limit:
      return "scoped_vmem_limit";
    case CompilerSetting::all_gather_combine_threshold:
      return "all_gather_combine_threshold";
    case CompilerSetting::reduce_scatter_combine_threshold:
      return "reduce_scatter_combine_threshold";
    case CompilerSetting::all_reduce_combine_threshold:
      return "all_reduce_combine_threshold";
  }
  throw InternalError("unknown CompilerSetting");
}

}  // namespace shardplan
