// A program of one forward pass.
#include <gmock/gmock.h>

#include <models/load_model.hpp>
#include <models/programs/train_program.hpp>

namespace shardplan {
namespace {

TrainConfig config_of_one_sequence() {
  TrainConfig config;
  config.per_device_batch_size = 1;
  config.max_target_length = 64;
  config.num_vocab_tiling = 4;
  config.gradient_accumulation_steps = 2;
  return config;
}

const ParallelShape on_eight{8, 1, 1};

Program forward_of(const char* model) {
  return forward_program(decoder_of(load_model(model)), config_of_one_sequence(), on_eight);
}

TEST(ForwardProgram, SaysSo) {
  EXPECT_EQ(forward_of("llama2-7b").step, StepKind::forward);
  EXPECT_EQ(train_program(load_model("llama2-7b"), config_of_one_sequence(), on_eight).step, StepKind::train);
}

TEST(ForwardProgram, EndsWithTheLogits) {
  const Program program = forward_of("llama2-7b");
  const Block& head = program.blocks.back();
  EXPECT_EQ(head.operations.back().kind, OpKind::einsum);
  EXPECT_EQ(head.output, head.operations.back().output);
  EXPECT_EQ(head.executions, 1);
}

TEST(ForwardProgram, HasTheLayersOfTheTrainStepAndNothingToComputeAgain) {
  const Program forward = forward_of("gemma3-12b");
  const Program train = train_program(load_model("gemma3-12b"), config_of_one_sequence(), on_eight);
  ASSERT_EQ(forward.blocks.size(), train.blocks.size());
  for (std::size_t i = 0; i + 1 < forward.blocks.size(); ++i) {
    const Block& block = forward.blocks[i];
    EXPECT_EQ(block.operations, train.blocks[i].operations);
    EXPECT_EQ(block.executions, block.layers);
    EXPECT_FALSE(block.rematerialized);
  }
}

TEST(ForwardProgram, GathersWeightsOnceAndReducesNothing) {
  const Program program = forward_of("llama2-7b");
  for (const Block& block : program.blocks) {
    EXPECT_EQ(block.weights.gathers, block.executions);
    EXPECT_EQ(block.weights.backward_gathers, 0);
    EXPECT_EQ(block.weights.reductions + block.weights.whole_reductions, 0);
  }
}

}  // namespace
}  // namespace shardplan
