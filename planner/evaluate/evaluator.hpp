#pragma once
// How a search costs its candidates.
#include <functional>
#include <planner/evaluate/prepared_mesh.hpp>
#include <shardplan/configuration.hpp>
#include <shardplan/evaluation.hpp>
#include <type_traits>

namespace shardplan {

/// Called from several threads at once, each with a PreparedMesh of its own.
struct Evaluator {
  std::function<Evaluation(const Configuration&)> full;             ///< of what is shown
  std::function<RunCost(const Configuration&, PreparedMesh&)> cost;  ///< of what is searched; the same costs
};

/// evaluate() and evaluate_cost().
const Evaluator& cost_model();

/// A stand-in for both, for tests: it shares nothing between candidates.
template <class Call>
  requires std::is_invocable_r_v<Evaluation, Call, const Configuration&>
Evaluator evaluator_of(const Call& call) {
  return {call, [call](const Configuration& c, PreparedMesh&) { return call(c); }};
}

}  // namespace shardplan
