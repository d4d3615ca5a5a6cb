// What holds for every model, path and mesh.
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <models/load_model.hpp>

#include "../toy_layers.hpp"

namespace shardplan {
namespace {

std::vector<MoePath> paths_of(const Model& model) {
  if (!model.has_experts()) return {MoePath::none};
  return {MoePath::dropping, MoePath::ragged, MoePath::ring};
}

TEST(EveryModel, MovesNothingOnOneDevice) {
  int runs = 0;
  for (const auto& name : model_names()) {
    const Model model = load_model(name);
    if (!model.not_modelled.empty()) continue;
    for (const MoePath path : paths_of(model)) {
      const ToyRun toy{model, toy_moe(toy_config(1, 128), path), "default", ""};
      EXPECT_TRUE(run(toy).collectives.empty())
          << name << " " << name_of(path) << ": " << run(toy).collectives.front().op;
      ++runs;
    }
  }
  EXPECT_GT(runs, 60);
}

ToyRun any_run() {
  const std::string path_name = *rc::gen::element<std::string>("none", "dropping", "ragged", "ring");
  ToyRun toy{toy_llama(), toy_config(4, 256, *rc::gen::element<std::string>("full", "minimal", "save_out_proj")),
             "default", ""};
  toy.model.mlp = 1024;
  for (const MoePath path : {MoePath::dropping, MoePath::ragged, MoePath::ring})
    if (name_of(path) == path_name) {
      toy.model = *rc::gen::element(toy_mixtral(), toy_deepseek());
      toy.config = toy_moe(toy.config, path);
    }
  toy.config.moe_dispatch_no_expert_sharding = *rc::gen::arbitrary<bool>();
  toy.config.gradient_accumulation_steps = *rc::gen::inRange(1, 3);
  for (const char* axis : {"data", "fsdp", "context", "tensor", "expert"})
    toy.mesh += fmt::format("{}{}={}", toy.mesh.empty() ? "" : ",", axis, *rc::gen::element(1, 1, 2, 4));
  return toy;
}

RC_GTEST_PROP(PartitionProperty, EveryCollectiveHasAGroupBytesAndAReason, ()) {
  const ToyRun toy = any_run();
  RC_LOG(toy.mesh + " " + std::string(name_of(toy.config.moe_path)));
  const ToyStep step = run(toy);
  for (const auto& c : step.collectives) {
    RC_LOG(c.op);
    for (const AxisId axis : c.axes) RC_ASSERT(step.mesh.size(axis) > 1);
    RC_ASSERT(c.group_size == step.mesh.product(c.axes));
    RC_ASSERT(c.group_size > 1);
    RC_ASSERT(std::is_sorted(c.axes.begin(), c.axes.end()));
    RC_ASSERT(std::adjacent_find(c.axes.begin(), c.axes.end()) == c.axes.end());
    RC_ASSERT(c.bytes.value > 0);
    RC_ASSERT(c.executions > 0);
    RC_ASSERT(!c.why.empty());
    RC_ASSERT(!c.op.empty());
  }
}

// Stacks of one layer aren't recomputed, so the least is two of each kind.
RC_GTEST_PROP(PartitionProperty, TrafficIsLinearInTheLayers, ()) {
  ToyRun toy = any_run();
  RC_LOG(toy.mesh + " " + std::string(name_of(toy.config.moe_path)));
  const auto with_layers = [&](std::int64_t layers) {
    toy.model.layers = layers + toy.model.first_dense_layers;
    return traffic(run(toy));
  };
  const std::int64_t two = with_layers(2), three = with_layers(3), five = with_layers(5);
  RC_ASSERT(five - three == 2 * (three - two));
}

RC_GTEST_PROP(PartitionProperty, AccumulationNeverMovesLessAndAtMostRepeatsEverything, ()) {
  ToyRun toy = any_run();
  toy.config.gradient_accumulation_steps = 1;
  const std::int64_t once = traffic(run(toy));
  toy.config.gradient_accumulation_steps = 3;
  const std::int64_t thrice = traffic(run(toy));
  RC_ASSERT(thrice >= once);
  RC_ASSERT(thrice <= 3 * once);
}

}  // namespace
}  // namespace shardplan
