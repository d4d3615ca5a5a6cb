#pragma once
// When what a remat policy drops is computed again: a scheduler that minds memory does it for the first that reads it.
#include <cost_models/operations/operation_kind.hpp>

namespace shardplan {

/// Whether a layer's features are split, and the compiler runs it as it is read (Habit::runs_split_layers_as_read).
bool runs_split_layer(const BlockState& state);

/// Steps in the order in which they run: of each step its place. Values that no other of the recomputation reads are made in
/// front of the gradient that reads them first: under save_out_proj attention runs again behind the feed-forward's
/// backward pass.
class StepOrder {
 public:
  StepOrder(const BlockState& state, const Schedule& schedule);

  int place(int step) const { return step < 0 ? step : places_[step]; }
  /// How many steps of the recomputation run in the backward pass.
  int postponed() const { return postponed_; }
  Schedule ordered(const Schedule& schedule) const;
  void order(std::vector<Lifetime>& lifetimes) const;

 private:
  std::vector<int> places_;
  int postponed_ = 0;
};

}  // namespace shardplan
