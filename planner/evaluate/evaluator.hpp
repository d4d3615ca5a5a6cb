#pragma once
// How a search costs its candidates.
#include <functional>
#include <planner/evaluate/prepared_mesh.hpp>
#include <shardplan/configuration.hpp>
#include <shardplan/evaluation.hpp>

namespace shardplan {

/// Called from several threads at once, each with a PreparedMesh of its own.
struct Evaluator {
  std::function<Evaluation(const Configuration&)> full;             ///< of what is shown
  std::function<RunCost(const Configuration&, PreparedMesh&)> cost;  ///< of what is searched; the same costs
  /// Of those all that needs no time: memory, and what keeps it from running. The time is none.
  std::function<RunCost(const Configuration&, PreparedMesh&)> memory;
};

/// evaluate(), evaluate_cost() and evaluate_memory().
const Evaluator& cost_model();

}  // namespace shardplan
