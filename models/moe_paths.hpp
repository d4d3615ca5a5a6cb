#pragma once
// Which paths MaxText's decoder for a model has through a mixture-of-experts layer.
#include <optional>
#include <shardplan/model.hpp>
#include <shardplan/train_config.hpp>
#include <string>

namespace shardplan {

/// The path of a run that asks for none. Batch-split layers have theirs written out: a ring.
inline MoePath usual_path(const Model& model) {
  if (!model.has_experts()) return MoePath::none;
  return model.use_batch_split_schedule ? MoePath::ring : MoePath::ragged;
}

/// The capacity_factor of a searched plan: the usual one where the path needs one and nobody asked for another.
double capacity_on(MoePath path, double factor, bool is_asked_for);

/// Why there is no such path with that capacity_factor, or shardplan does not model it; empty: there is one.
std::optional<std::string> path_refusal(const Model& model, MoePath path, double capacity_factor);

}  // namespace shardplan
