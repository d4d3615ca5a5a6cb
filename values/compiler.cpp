#include <algorithm>
#include <array>
#include <shardplan/compiler.hpp>
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
    Named{Habit::moves_stacks_in_compute_dtype, "moves_stacks_in_compute_dtype"},
    Named{Habit::defers_head_gradient, "defers_head_gradient"},
    Named{Habit::ragged_dot_is_dense, "ragged_dot_is_dense"},
    Named{Habit::all_reduces_over_whole_slices, "all_reduces_over_whole_slices"},
};

constexpr auto habits = [] {
  std::array<Habit, habit_names.size()> all{};
  for (std::size_t i = 0; i < all.size(); ++i) all[i] = habit_names[i].first;
  return all;
}();

}  // namespace

std::span<const Habit> all_habits() { return habits; }

std::string_view name_of(Habit habit) {
  const auto named = [&](const Named& row) { return row.first == habit; };
  const auto found = std::find_if(habit_names.begin(), habit_names.end(), named);
  if (found == habit_names.end()) throw InternalError("a habit without a name");
  return found->second;
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

}  // namespace shardplan
