// Layouts that JAX refuses are counted all the same, beside the reason.
#include <gtest/gtest.h>

#include <planner/evaluate/evaluate.hpp>

#include "../reading.hpp"

namespace shardplan {
namespace {

/// Experts over tensor, as hidden features are: with the flag each dim is resolved by itself, and both have it.
TEST(RefusedLayout, NamesAnAxisTwiceAndIsCounted) {
  Configuration c = read("model_name=mixtral-8x7b compile_topology=v5p-16 ici_tensor_parallelism=2 ici_expert_parallelism=4 "
                         "sparse_matmul=false capacity_factor=1.25 moe_dispatch_no_expert_sharding=true "
                         "per_device_batch_size=1 max_target_length=1024");
  for (Rule& rule : c.rules.rules)
    if (rule.logical == "activation_exp") rule.axes = {"tensor"};
  const Evaluation evaluation = evaluate(c);
  ASSERT_TRUE(evaluation.infeasible);
  EXPECT_EQ(evaluation.infeasible->constraint, ConstraintId::dispatch_names_axis_twice);
  EXPECT_GT(evaluation.time.step().value, 0);
}

}  // namespace
}  // namespace shardplan
