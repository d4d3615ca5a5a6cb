// The blocks of a train step: which there are, how many layers they stand for and how often they run.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <models/load_model.hpp>
#include <models/programs/train_program.hpp>
#include <shardplan/error.hpp>
#include <shardplan/step_counts.hpp>

namespace shardplan {
namespace {

using testing::ElementsAre;

TrainConfig config_of(double sequences_a_device, MoePath path = MoePath::none) {
  TrainConfig config;
  config.per_device_batch_size = sequences_a_device;
  config.max_target_length = 64;
  config.moe_path = path;
  return config;
}

/// "layers 32 x32": layers and executions a step; "+" where the block has experts, "r" where it is rematerialized.
std::vector<std::string> blocks_of(const Program& program) {
  std::vector<std::string> all;
  for (const auto& block : program.blocks)
    all.push_back(fmt::format("{} {} x{}{}{}", block.name, block.layers, block.executions, block.mixture ? " +" : "",
                              block.rematerialized ? " r" : ""));
  return all;
}

std::vector<std::string> blocks_of(const char* model, MoePath path = MoePath::none) {
  return blocks_of(train_program(load_model(model), config_of(1, path), {8, 1, 1}));
}

TEST(TrainProgram, HasOneBlockForEachKindOfLayer) {
  EXPECT_THAT(blocks_of("llama2-7b"), ElementsAre("embedding 1 x1", "layers 32 x32 r", "head 1 x1"));
  EXPECT_THAT(blocks_of("mixtral-8x7b", MoePath::ragged),
              ElementsAre("embedding 1 x1", "layers 32 x32 + r", "head 1 x1"));
  EXPECT_THAT(blocks_of("deepseek3-671b", MoePath::ragged),
              ElementsAre("embedding 1 x1", "dense_layers 3 x3 r", "moe_layers 58 x58 + r", "head 1 x1"));
  EXPECT_THAT(blocks_of("deepseek2-16b", MoePath::ragged),  // a scan of one layer is no loop: nothing to recompute
              ElementsAre("embedding 1 x1", "dense_layers 1 x1", "moe_layers 26 x26 + r", "head 1 x1"));
}

// gemma2: 21 pairs of a local and a global layer (9b); gemma3: five local layers for each global one (12b: 48 layers).
TEST(TrainProgram, SeparatesLayersOfDifferentWindows) {
  EXPECT_THAT(blocks_of("gemma2-9b"),
              ElementsAre("embedding 1 x1", "layers_local 21 x21 r", "layers_global 21 x21 r", "head 1 x1"));
  EXPECT_THAT(blocks_of("gemma3-12b"),
              ElementsAre("embedding 1 x1", "layers_local 40 x40 r", "layers_global 8 x8 r", "head 1 x1"));
}

TEST(TrainProgram, GivesLocalLayersTheirWindow) {
  const Program program = train_program(load_model("gemma3-12b"), config_of(1), {8, 1, 1});
  const auto window_of = [](const Block& block) {
    for (const auto& op : block.operations)
      if (op.kind == OpKind::attention) return op.attention_window.tokens;
    return std::int64_t{-1};
  };
  EXPECT_EQ(window_of(program.blocks.at(1)), load_model("gemma3-12b").attention_pattern.window);
  EXPECT_GT(window_of(program.blocks.at(1)), 0);
  EXPECT_EQ(window_of(program.blocks.at(2)), 0);
}

TEST(TrainProgram, RunsEverythingOnceForEachAccumulationStep) {
  TrainConfig config = config_of(1);
  config.gradient_accumulation_steps = 4;
  EXPECT_THAT(blocks_of(train_program(load_model("llama2-7b"), config, {8, 1, 1})),
              ElementsAre("embedding 1 x4", "layers 32 x128 r", "head 1 x4"));
}

// 2 stages, 4 microbatches, 16 repeats of one layer: 4·16 + 1 = 65 iterations; a device runs its layer in each.
TEST(TrainProgram, RunsPipelinedLayersOnceAnIteration) {
  TrainConfig config = config_of(2);
  config.num_pipeline_microbatches = 4;
  const Program program = train_program(load_model("llama2-7b"), config, {8, 2, 1});
  EXPECT_EQ(program.pipeline.iterations(), 65);
  EXPECT_TRUE(program.pipeline.circular_storage());
  EXPECT_THAT(blocks_of(program), ElementsAre("embedding 1 x1", "layers 32 x65 r", "head 1 x1"));
  EXPECT_TRUE(program.blocks[1].in_pipeline);
  EXPECT_EQ(program.blocks[1].tensors[program.blocks[1].input].dims.front().size, 16 / 4);  // a microbatch
  EXPECT_EQ(program.blocks[2].tensors[program.blocks[2].input].dims.front().size, 16);
}

TEST(TrainProgram, KeepsDeepSeeksFirstDenseLayersOutOfThePipeline) {
  TrainConfig config = config_of(2, MoePath::ragged);
  config.pipeline_parallel_layers = 56;
  const Program program = train_program(load_model("deepseek3-671b"), config, {8, 2, 1});
  EXPECT_FALSE(program.blocks.at(1).in_pipeline);
  EXPECT_TRUE(program.blocks.at(2).in_pipeline);
}

TEST(TrainProgram, RefusesAModelThatIsNotModelled) {
  for (const auto& name : model_names()) {
    const Model model = load_model(name);
    if (model.not_modelled.empty()) continue;
    EXPECT_THROW(train_program(model, config_of(1), {8, 1, 1}), InputError) << name;
  }
}

struct BatchRow {
  double per_device;
  std::int64_t devices, batch;
};

TEST(GlobalBatch, IsTheWholePartOfDevicesTimesSequences) {
  for (const auto& [per_device, devices, batch] :
       {BatchRow{12, 8, 96}, {0.5, 8, 4}, {0.1, 30, 3}, {0.3, 8, 2}, {1.0 / 3, 3, 1}, {0.29, 100, 29}}) {
    TrainConfig config = config_of(per_device);
    EXPECT_EQ(global_batch(config, devices), batch) << per_device << " x " << devices;
  }
}

struct ShapeRow {
  const char* what;
  std::int64_t stages, layers_per_stage, microbatches, repeats;
  bool delayed;
  std::int64_t expected_microbatches, expected_repeats, iterations;
  bool circular;
};

// llama2-7b has 32 layers.
TEST(PipelineShape, FollowsMaxText) {
  for (const auto& row : {ShapeRow{"no pipeline", 1, 1, -1, -1, false, 1, 1, 1, false},
                          {"defaults: as many microbatches as stages", 4, 1, -1, -1, false, 4, 8, 35, false},
                          {"more microbatches than stages: circular storage", 4, 1, 8, -1, false, 8, 8, 67, true},
                          {"one repeat", 4, 8, 8, -1, false, 8, 1, 11, false},
                          {"activations forwarded late: the bubble doubles", 4, 8, 8, -1, true, 8, 1, 14, false},
                          {"and there are twice the microbatches", 4, 8, -1, -1, true, 8, 1, 14, false},
                          {"repeats given", 4, 1, 4, 2, false, 4, 2, 11, false}}) {
    TrainConfig config = config_of(1);
    config.num_layers_per_pipeline_stage = row.layers_per_stage;
    config.num_pipeline_microbatches = row.microbatches;
    config.num_pipeline_repeats = row.repeats;
    config.pipeline_delay_activation_forwarding = row.delayed;
    const PipelineShape shape = pipeline_shape(load_model("llama2-7b"), config, row.stages);
    EXPECT_EQ(shape.microbatches, row.expected_microbatches) << row.what;
    EXPECT_EQ(shape.repeats, row.expected_repeats) << row.what;
    EXPECT_EQ(shape.iterations(), row.iterations) << row.what;
    EXPECT_EQ(shape.circular_storage(), row.circular) << row.what;
  }
}

}  // namespace
}  // namespace shardplan
