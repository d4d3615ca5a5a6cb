// Layouts that JAX refuses are counted all the same, beside the reason.
#include <gtest/gtest.h>

#include <planner/evaluate/evaluate.hpp>

#include "../reading.hpp"

namespace shardplan {
namespace {

void expect_counted_and_refused(const Configuration& c, ConstraintId constraint) {
  const Evaluation evaluation = evaluate(c);
  ASSERT_TRUE(evaluation.infeasible);
  EXPECT_EQ(evaluation.infeasible->constraint, constraint) << evaluation.infeasible->message;
  EXPECT_GT(evaluation.time.step().value, 0);
}

/// Experts over tensor, as hidden features are: with the flag each dim is resolved by itself, and both have it.
TEST(RefusedLayout, NamesAnAxisTwice) {
  Configuration c = read("model_name=mixtral-8x7b compile_topology=v5p-16 ici_tensor_parallelism=2 ici_expert_parallelism=4 "
                         "sparse_matmul=false capacity_factor=1.25 moe_dispatch_no_expert_sharding=true "
                         "per_device_batch_size=1 max_target_length=1024");
  for (Rule& rule : c.rules.rules)
    if (rule.logical == "activation_exp") rule.axes = {"tensor"};
  expect_counted_and_refused(c, ConstraintId::dispatch_names_axis_twice);
}

/// Two KV heads over 256 devices leave most of them none.
TEST(RefusedLayout, SplitsMoreThanThereIs) {
  expect_counted_and_refused(read("model_name=gpt3-52k compile_topology=v6e-256 ici_tensor_parallelism=256 "
                                  "per_device_batch_size=1"),
                             ConstraintId::kv_heads);
}

TEST(RefusedLayout, HalvesOneSequence) {
  expect_counted_and_refused(read("model_name=deepseek3-671b-batchsplit compile_topology=v6e-1 per_device_batch_size=1 "
                                  "max_target_length=2048"),
                             ConstraintId::batch_split);
}

/// What would lack memory, too, is refused for what isn't priced.
TEST(RefusedLayout, OffloadsWithoutAPricedLink) {
  expect_counted_and_refused(read("model_name=llama2-70b compile_topology=v4-8 ici_fsdp_parallelism=4 "
                                  "per_device_batch_size=1 optimizer_memory_host_offload=true"),
                             ConstraintId::host_traffic_not_priced);
}

}  // namespace
}  // namespace shardplan
