#include <planner/evaluate/evaluate.hpp>
#include <planner/evaluate/evaluator.hpp>

namespace shardplan {

const Evaluator& cost_model() {
  static const Evaluator model{evaluate, evaluate_cost, evaluate_memory};
  return model;
}

}  // namespace shardplan
