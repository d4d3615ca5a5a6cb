// Multi-token prediction: which blocks it adds, what of them it shares with the decoder, what it costs.
#include <gmock/gmock.h>

#include <models/load_model.hpp>
#include <models/model_flops.hpp>
#include <models/parameter_count.hpp>
#include <models/programs/train_program.hpp>

namespace shardplan {
namespace {

using testing::ElementsAre;

Model with_layers(std::int64_t layers) {
  Model model = load_model("deepseek3-671b");
  model.mtp_num_layers = layers;
  return model;
}

std::vector<std::string> block_names(const Program& program) {
  std::vector<std::string> names;
  for (const auto& block : program.blocks) names.push_back(block.name);
  return names;
}

const Block& block_of(const Program& program, const std::string& name) {
  for (const auto& block : program.blocks)
    if (block.name == name) return block;
  throw std::logic_error("test: no block " + name);
}

TEST(MultiTokenPrediction, RunsBehindTheDecoderOnceALayer) {
  const Program program = reference_program(with_layers(2), 4096);
  EXPECT_THAT(block_names(program), ElementsAre("embedding", "dense_layers", "moe_layers", "mtp_embedding",
                                                "mtp_layers", "mtp_head", "head"));
  for (const char* name : {"mtp_embedding", "mtp_layers", "mtp_head"}) {
    EXPECT_EQ(block_of(program, name).executions, 2) << name;
    EXPECT_FALSE(block_of(program, name).rematerialized) << name;
  }
  EXPECT_EQ(block_names(reference_program(with_layers(0), 4096)).size(), 4U);
}

// The table, the head and the norm before it are the decoder's own.
TEST(MultiTokenPrediction, SharesTheDecodersEdges) {
  const Program program = reference_program(with_layers(1), 4096);
  for (const char* name : {"mtp_embedding", "mtp_head"})
    for (const auto& tensor : block_of(program, name).tensors) EXPECT_EQ(tensor.shared, tensor.parameter) << tensor.name;
  for (const auto& tensor : block_of(program, "mtp_layers").tensors) EXPECT_FALSE(tensor.shared) << tensor.name;
}

// A layer is one of the decoder's last kind behind a projection of [embedding; hidden]: 2·7168·7168 more weights.
TEST(MultiTokenPrediction, AddsALayerAndAProjection) {
  Model deeper = with_layers(0);
  deeper.layers += 1;
  EXPECT_EQ(matrix_parameters(with_layers(1)), matrix_parameters(deeper) + 2 * 7168 * 7168);
}

// And multiplies with the head once more.
TEST(MultiTokenPrediction, MultipliesWithTheHeadOnceMore) {
  Model deeper = with_layers(0);
  deeper.layers += 1;
  const auto flops = [](const Model& model) { return model_flops_per_token(reference_program(model, 4096)).value; };
  EXPECT_DOUBLE_EQ(flops(with_layers(1)), flops(deeper) + 6.0 * (2 * 7168 * 7168 + 7168.0 * 129280));
}

/// The layers that predict, and the windows of their attention.
std::vector<std::string> predicting(const char* name) {
  Model model = load_model(name);
  model.mtp_num_layers = 1;
  std::vector<std::string> found;
  for (const auto& block : reference_program(model, 4096).blocks) {
    if (block.single_run != SingleRun::later_tokens) continue;
    bool window = false;
    for (const auto& op : block.operations) window = window || op.attention_window.tokens > 0;
    found.push_back(block.name + (window ? " local" : ""));
  }
  return found;
}

// MaxText takes the last class of the decoder: of scanned cycles a whole one, of gemma3 a layer as it is made by default.
TEST(MultiTokenPrediction, IsAWholeCycleWhereTheScanHasOne) {
  EXPECT_THAT(predicting("gemma-7b"), ElementsAre("mtp_layers"));
  EXPECT_THAT(predicting("gemma3-4b"), ElementsAre("mtp_layers local"));
  EXPECT_THAT(predicting("gemma2-9b"), ElementsAre("mtp_layers_0 local", "mtp_layers_1"));
  EXPECT_THAT(predicting("gpt-oss-20b"), ElementsAre("mtp_layers_0 local", "mtp_layers_1"));
  EXPECT_THAT(predicting("olmo3-7b"),
              ElementsAre("mtp_layers_0 local", "mtp_layers_1 local", "mtp_layers_2 local", "mtp_layers_3"));
  EXPECT_EQ(predicting("llama4-17b-16e").size(), 4U);
}

}  // namespace
}  // namespace shardplan
