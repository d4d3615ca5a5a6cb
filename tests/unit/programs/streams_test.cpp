// Hidden states of several streams: what a layer's connections cost, layers with n-gram memory beside the scans, and the
// layers of compressed attention.
#include <gmock/gmock.h>

#include <algorithm>
#include <models/load_model.hpp>
#include <models/programs/matrices.hpp>
#include <models/programs/train_program.hpp>

namespace shardplan {
namespace {

using testing::ElementsAre;

Program program_of(const Model& model) { return reference_program(model, 4096); }

const Block& block_of(const Program& program, const std::string& name) {
  for (const auto& block : program.blocks)
    if (block.name == name) return block;
  throw std::logic_error("test: no block " + name);
}

const Tensor& tensor_of(const Block& block, const std::string& name) {
  for (const auto& tensor : block.tensors)
    if (tensor.name == name) return tensor;
  throw std::logic_error("test: no tensor " + name);
}

/// "name layers", "(not recomputed)" where nothing of it is.
std::vector<std::string> layers_of(const Program& program) {
  std::vector<std::string> all;
  for (const auto& block : program.blocks)
    if (block.kind == BlockKind::layer)
      all.push_back(block.name + " " + std::to_string(block.layers) + (block.rematerialized ? "" : " (not recomputed)"));
  return all;
}

Model with_streams(std::int64_t streams) {
  Model model = load_model("deepseek3-671b");
  model.mhc_expansion_rate = streams;
  return model;
}

// Each of a layer's two connections: a norm's scale of 4·7168, three weights 4·7168 x (4 + 4 + 16), their biases and three
// scales.
TEST(Streams, AddTheirMixturesWeights) {
  const auto parameters = [](const Model& model) {
    std::int64_t all = 0;
    for (const auto& block : program_of(model).blocks)
      for (const auto& tensor : block.tensors)
        if (tensor.parameter) all += elements_of(tensor) * block.layers;
    return all;
  };
  EXPECT_EQ(parameters(with_streams(4)) - parameters(with_streams(1)), 61 * 2 * (4 * 7168 * (1 + 24) + 24 + 3));
}

TEST(Streams, AreWhatLayersHandOn) {
  const Program program = program_of(with_streams(4));
  const Block& layer = block_of(program, "moe_layers");
  const Dims carried = {{Dim::batch, 1}, {Dim::sequence, 4096}, {Dim::streams, 4}, {Dim::embed, 7168}};
  EXPECT_EQ(layer.tensors[layer.input].dims, carried);
  EXPECT_EQ(layer.tensors[layer.output].dims, carried);
  EXPECT_EQ(block_of(program, "embedding").tensors[block_of(program, "embedding").output].dims, carried);
  EXPECT_EQ(tensor_of(block_of(program, "head"), "sum of streams").dims.size(), 3U);
}

TEST(NGramMemory, StandsBesideTheScans) {
  EXPECT_THAT(layers_of(program_of(load_model("deepseek-custom"))),
              ElementsAre("dense_layers_0_0 1", "moe_layers_engram_1 1 (not recomputed)", "moe_layers_2_3 2",
                          "moe_layers_engram_4 1 (not recomputed)", "moe_layers_5_5 1"));
}

// Sixteen heads of both orders: the 16 primes from 226,240 on in the first layer, the next 16 in the second.
TEST(NGramMemory, HasAPrimeNumberOfRowsAHead) {
  const Program program = program_of(load_model("deepseek-custom"));
  const auto rows = [&](const char* layer) {
    return tensor_of(block_of(program, layer), "engram/multi_head_embedding").dims[0].size;
  };
  std::vector<std::int64_t> primes;
  for (std::int64_t number = 226240; primes.size() < 32; ++number) {
    bool prime = true;
    for (std::int64_t divisor = 2; divisor * divisor <= number; ++divisor) prime = prime && number % divisor != 0;
    if (prime) primes.push_back(number);
  }
  const auto sum = [&](std::size_t from) {
    std::int64_t all = 0;
    for (std::size_t i = from; i < from + 16; ++i) all += primes[i];
    return all;
  };
  EXPECT_EQ(rows("moe_layers_engram_1"), sum(0));
  EXPECT_EQ(rows("moe_layers_engram_4"), sum(16));
}

// The projections of what is found are kept in the type that they are multiplied in.
TEST(NGramMemory, KeepsItsProjectionsNarrow) {
  const Program program = program_of(load_model("deepseek-custom"));
  const Block& layer = block_of(program, "moe_layers_engram_1");
  EXPECT_EQ(tensor_of(layer, "engram/key_proj").kept_as, DType::bf16);
  EXPECT_EQ(tensor_of(layer, "engram/value_proj").kept_as, DType::bf16);
  EXPECT_EQ(tensor_of(layer, "engram/multi_head_embedding").kept_as, std::nullopt);
}

TEST(CompressedAttention, BeginsWithHashRoutedLayers) {
  const Program program = program_of(load_model("deepseek4-284b"));
  EXPECT_THAT(layers_of(program),
              ElementsAre("layers_0 1 (not recomputed)", "layers_1 1 (not recomputed)", "layers_2 1 (not recomputed)",
                          "scanned_layers_128 20", "scanned_layers_4 20"));
  const Tensor& table = tensor_of(block_of(program, "layers_0"), "MoeBlock_0/tid2eid");
  EXPECT_EQ(elements_of(table), 129280 * 6);
  EXPECT_FALSE(is_trained(table));
  EXPECT_TRUE(block_of(program, "scanned_layers_4").continues_cycle);
}

// A window, beside it a key for every run of 128 or 4 tokens; of the latter an indexer picks.
TEST(CompressedAttention, PoolsKeysOfRuns) {
  const Program program = program_of(load_model("deepseek4-284b"));
  const auto kernel = [&](const char* block) {
    const auto& operations = block_of(program, block).operations;
    return *std::find_if(operations.begin(), operations.end(), [](const auto& op) { return op.kind == OpKind::attention; });
  };
  EXPECT_EQ(kernel("layers_0").pooled_keys, 0);
  EXPECT_EQ(kernel("layers_0").attention_window.tokens, 128);
  EXPECT_EQ(kernel("scanned_layers_128").pooled_keys, 4096 / 128);
  EXPECT_EQ(kernel("scanned_layers_4").pooled_keys, 4096 / 4);
  const auto picks = [&](const char* block) {
    const auto& operations = block_of(program, block).operations;
    return std::any_of(operations.begin(), operations.end(),
                       [](const auto& op) { return op.kind == OpKind::key_selection; });
  };
  EXPECT_TRUE(picks("scanned_layers_4"));
  EXPECT_FALSE(picks("scanned_layers_128"));
}

// 64 heads of 512 leave in 8 groups of 4096 features: 8·4096·1024 weights, then 8192 ranks to the 4096 of the hidden state.
TEST(CompressedAttention, ProjectsGroupsOfHeads) {
  const Program program = program_of(load_model("deepseek4-284b"));
  const Block& layer = block_of(program, "scanned_layers_128");
  EXPECT_EQ(elements_of(tensor_of(layer, "self_attention/o_a_proj")), 8 * 4096 * 1024);
  EXPECT_EQ(elements_of(tensor_of(layer, "self_attention/o_b_proj")), 8 * 1024 * 4096);
}

}  // namespace
}  // namespace shardplan
