// A step of the forward pass alone: the forward collectives of a train step and nothing else.
#include <gmock/gmock.h>

#include "../toy_layers.hpp"

namespace shardplan {
namespace {

struct Partitioned {
  Mesh mesh;
  Program program;
  std::vector<PartitionedBlock> blocks;
  std::vector<Collective> beside;
};

Partitioned partitioned(const Model& model, const TrainConfig& config, const std::string& mesh, StepKind step) {
  const RuleSet rules = active_rules(load_rules("default"), model.rules);
  Partitioned result{parse_mesh(mesh, rules.mesh_axes), {}, {}, {}};
  result.program = train_program(
      model, config, {result.mesh.devices(), 1, result.mesh.product(expert_axes(rules, result.mesh))});
  result.program.step = step;
  const BoundProgram bound = bind_program(result.program, rules, result.mesh);
  result.blocks = partition(bound, config, Compiler{});
  for (const auto& rest : {layer_stack_traffic(bound, result.blocks, config, Compiler{}),
                           zero1_traffic(bound, result.blocks, config, Compiler{}),
                           muon_traffic(bound, result.blocks, config, Compiler{})})
    result.beside.insert(result.beside.end(), rest.begin(), rest.end());
  return result;
}

std::vector<std::string> forward_lines(const Partitioned& step) {
  std::vector<std::string> lines;
  for (const auto& block : step.blocks)
    for (const auto& c : block.collectives)
      if (c.phase == Phase::forward)
        lines.push_back(fmt::format("{} {} {} {} {}", c.block, c.operation, name_of(c.kind), c.bytes.value, c.executions));
  return lines;
}

struct Case {
  const char* what;
  Model model;
  MoePath path;
  const char* mesh;
};

TEST(ForwardOnly, MovesWhatTheForwardPassOfATrainStepMoves) {
  for (const auto& row : {Case{"dense", toy_llama(), MoePath::none, "fsdp=4,tensor=2"},
                          Case{"experts, dropping", toy_mixtral(), MoePath::dropping, "fsdp=2,expert=4"},
                          Case{"experts, ragged", toy_mixtral(), MoePath::ragged, "fsdp=2,expert=4"}}) {
    TrainConfig config;
    config.max_target_length = 1024;
    config.per_device_batch_size = 2;
    config.moe_path = row.path;
    config.capacity_factor = 1.25;
    config.opt_type = OptimizerType::muon;
    const Partitioned train = partitioned(row.model, config, row.mesh, StepKind::train);
    const Partitioned forward = partitioned(row.model, config, row.mesh, StepKind::forward);
    EXPECT_THAT(forward_lines(forward), testing::Not(testing::IsEmpty())) << row.what;
    EXPECT_EQ(forward_lines(forward), forward_lines(train)) << row.what;
    EXPECT_FALSE(train.beside.empty()) << row.what;
    EXPECT_TRUE(forward.beside.empty()) << row.what;
    for (std::size_t i = 0; i < forward.blocks.size(); ++i) {
      const PartitionedBlock& block = forward.blocks[i];
      for (const auto& c : block.collectives) EXPECT_EQ(c.phase, Phase::forward) << row.what;
      for (const auto& work : block.work()) EXPECT_EQ(work.backward.value, 0) << row.what;
      for (std::size_t op = 0; op < block.work().size(); ++op)
        EXPECT_EQ(block.work()[op].forward.value, train.blocks[i].work()[op].forward.value) << row.what;
      EXPECT_TRUE(block.liveness.saved.empty()) << row.what;
      for (const auto& life : block.lifetimes) {
        EXPECT_LE(life.first, life.last) << row.what << " " << describe(life.name, *block.block);
        EXPECT_LT(life.last, block.backward_begins) << row.what << " " << describe(life.name, *block.block);
      }
    }
  }
}

}  // namespace
}  // namespace shardplan
