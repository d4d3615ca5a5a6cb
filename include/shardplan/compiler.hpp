#pragma once
// A compiler as its file (compilers/*.json) gives it: what it does differently for the same program, the kernels that
// run by default, what it leaves exposed. Cost models know a compiler, never a machine.
#include <cstdint>
#include <initializer_list>
#include <span>
#include <string>
#include <string_view>

namespace shardplan {

/// What a compiler may do with a program; data, because it is a habit, not a law. docs/compilers.md says what each
/// means, the compiler's file on what evidence it has it.
enum class Habit : std::uint8_t {
  gathers_moe_layer_weights_twice,   ///< non-expert weights of MoE layers gathered twice in the backward pass
  gathers_activations_per_consumer,  ///< tensor-parallel activations gathered again for each consumer
  attention_outside_shard_map,       ///< attention=flash and autoselected are not partitioned: computed whole everywhere
  copies_stacked_parameters,         ///< scanned parameters are copied to layer-major order before the loop
  moves_stacks_in_compute_dtype,     ///< weights are cast before pipeline_fsdp_ag_once gathers and moves them
  defers_head_gradient,              ///< head weight gradient computed after the layers' backward pass
  ragged_dot_is_dense,               ///< ragged_dot computes every local expert for every row
  all_reduces_over_whole_slices,     ///< a gradient summed over a whole slice is all-reduced, then sliced
};

std::span<const Habit> all_habits();
std::string_view name_of(Habit habit);  ///< "defers_head_gradient", the id in files

class HabitSet {
 public:
  HabitSet() = default;
  HabitSet(std::initializer_list<Habit> habits) {
    for (const Habit habit : habits) bits_ |= bit(habit);
  }
  bool has(Habit habit) const { return (bits_ & bit(habit)) != 0; }
  void add(Habit habit) { bits_ |= bit(habit); }
  void remove(Habit habit) { bits_ &= ~bit(habit); }

 private:
  static std::uint64_t bit(Habit habit) { return std::uint64_t{1} << static_cast<unsigned>(habit); }
  std::uint64_t bits_ = 0;
};

enum class GroupedMatmul : std::uint8_t { megablox, ragged_dot };
std::string_view name_of(GroupedMatmul kernel);  ///< "ragged_dot"

/// The kernels that run where nothing asks for others, and which of MaxText's there are.
struct Kernels {
  std::string attention = "autoselected";                   ///< MaxText's `attention`, of a searched plan
  GroupedMatmul grouped_matmul = GroupedMatmul::ragged_dot;  ///< of the sparse expert path
  bool has_megablox = false;
  bool has_tokamax_splash = false;  ///< in which MaxText writes ring, ulysses and usp context parallelism
};

/// Shares of a collective's bytes in operations that the scheduler leaves synchronous.
struct OverlapShares {
  double weights = 0;           ///< gathers of weights and reductions of their gradients
  double ragged_exchange = 1;   ///< expert dispatch and return by ragged all-to-all
  double partial_sums = 1;      ///< reduce-scatters of activations
  double other_activations = 1;  ///< all-gathers, all-reduces and all-to-alls of activations, stage-to-stage permutes
};

struct Compiler {
  std::string name;    ///< "xla-tpu-v5p"
  std::string family;  ///< "XLA:TPU", in reports
  HabitSet habits;
  Kernels kernels;
  OverlapShares overlap;
  bool has(Habit habit) const { return habits.has(habit); }
};

}  // namespace shardplan
