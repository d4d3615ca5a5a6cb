#pragma once
// The moments at which XLA's buffer assignment may peak, in the order of the step's second half: the loss (all saved
// activations, logits), the backward pass of each layer stack (its saved activations, the gradients so far, the working
// set of one layer), the optimizer (all gradients).
#include <cost_models/memory/working_set.hpp>
#include <cstdint>
#include <optional>
#include <shardplan/compiler/compiler.hpp>
#include <string>
#include <vector>

namespace shardplan {

enum class MomentKind : std::uint8_t {
  loss,
  forward,           ///< of a block's loop
  backward,          ///< likewise
  head_gradient,     ///< made when the layers have run
  head_over_tiles,   ///< its sum (vocab_tiling_ag_once)
  turn_of_rows,      ///< saved ones, in front of their loop
  optimizer,
};

/// Bytes of one device beside the step's arguments.
struct Moment {
  MomentKind kind = MomentKind::loss;
  const Block* block = nullptr;  ///< of forward and backward: whose, of several in a loop the last
  Bytes gradients{}, activations{}, temporaries{};
  Bytes in_turn{};          ///< of the temporaries, what is made one after the other where memory is short
  Bytes if_head_is_late{};  ///< what would wait besides, if the head's weight gradient were computed last
  Bytes turned{};           ///< stacks of saved rows in another order, which can be made in front of the loss, too
  Bytes not_before_loss{};  ///< of the gradients, what isn't there yet then
  std::optional<std::size_t> loop{};  ///< of loops_of(), whose backward pass runs
  WeightGradients weight_gradients = WeightGradients::here;  ///< of that loop
  Bytes copies{};                     ///< of the temporaries, weights that were gathered or copied in front of the loops
  Bytes total() const { return gradients + activations + temporaries; }
  std::string name() const;  ///< "loss", "backward of moe_layers"
};

/// When the head's weight gradient is computed: as the compiler's habits say, before the layers' backward pass; before it
/// and once the head's gathered weight is gone; so in XLA's list order, which has cleared the layers' gradient stacks by
/// then; or after it, the logits' gradient waiting.
enum class HeadGradient : std::uint8_t { habitual, early, early_in_turn, early_in_list, late };

std::vector<Moment> moments_of(const std::vector<PartitionedBlock>& blocks, const BoundProgram& program,
                               const TrainConfig& config, const Compiler& compiler, HeadGradient head);

/// The gradient stacks of all layers, before the first gradient is put into them.
Bytes cleared_stacks(const std::vector<PartitionedBlock>& blocks, const BoundProgram& program, const TrainConfig& config,
                     const Compiler& compiler);

/// XLA:GPU's latency-hiding scheduler, which works from the step's end, turns stacks where their loop wants them, beside
/// what the head left. It puts off what would bring the peak beyond its limit, to in front of the loss; once it is beyond,
/// it takes what adds least, and a copy adds nothing (xla/service/latency_hiding_scheduler.cc, MemoryPressurePolicy). One
/// step of deepseek2-16b, which needs 70.4 GB beside its arguments, 57.4 without the copy: behind the loss within 110 GB
/// and within 53, in front of it within 65 (h100f94x2_ds16_plan16_notriton).
/// Other moments don't change.
Moment at_turn(Moment moment, Bytes budget);

/// The first of the largest.
const Moment& largest(const std::vector<Moment>& moments);

}  // namespace shardplan
