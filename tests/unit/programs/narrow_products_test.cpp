// Which products of a layer each value of MaxText's `quantization` multiplies in fewer bits.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <models/load_model.hpp>
#include <models/programs/narrow_products.hpp>
#include <models/programs/train_program.hpp>

namespace shardplan {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

TrainConfig with(Quantization quantization, bool qwix, MoePath path = MoePath::none) {
  TrainConfig config;
  config.per_device_batch_size = 1;
  config.max_target_length = 64;
  config.moe_path = path;
  config.capacity_factor = path == MoePath::dropping ? 1 : -1;
  config.quantization = quantization;
  config.use_qwix_quantization = qwix;
  return config;
}

/// "self_attention/query int8 dx dw": the product, what it multiplies, which of its gradients are narrow too.
std::vector<std::string> narrow_of(const char* model, const TrainConfig& config) {
  std::vector<std::string> all;
  for (const auto& block : train_program(load_model(model), config, {8, 1, 1}).blocks)
    for (const auto& op : block.operations)
      if (op.narrow)
        all.push_back(fmt::format("{} {}{}{}", op.name, name_of(op.narrow->operands),
                                  op.narrow->input_gradient ? " dx" : "", op.narrow->weight_gradient ? " dw" : ""));
  return all;
}

TEST(NarrowProduct, IsEveryProductOfADenseLayer) {
  EXPECT_THAT(narrow_of("llama2-7b", with(Quantization::int8, false)),
              ElementsAre("self_attention/query int8 dx dw", "self_attention/key int8 dx dw",
                          "self_attention/value int8 dx dw", "self_attention/out int8 dx dw", "mlp/wi_0 int8 dx dw",
                          "mlp/wi_1 int8 dx dw", "mlp/wo int8 dx dw"));
  EXPECT_THAT(narrow_of("llama2-7b", with(Quantization::none, true)), IsEmpty());
}

TEST(NarrowProduct, OfAWeightGradientNeedsAShardCount) {
  TrainConfig config = with(Quantization::int8, false);
  config.quantization_local_shard_count = 0;
  EXPECT_EQ(narrow_of("llama2-7b", config).front(), "self_attention/query int8 dx");
  config.use_qwix_quantization = true;
  EXPECT_EQ(narrow_of("llama2-7b", config).front(), "self_attention/query int8 dx dw");
}

std::vector<std::string> of_experts(const TrainConfig& config) {
  auto all = narrow_of("mixtral-8x7b", config);
  std::erase_if(all, [](const std::string& line) { return !line.starts_with("MoeBlock_0/"); });
  return all;
}

TEST(NarrowProduct, OfExpertsIsWhatTheRulesName) {
  const std::vector<std::string> grouped = {"MoeBlock_0/gate float8 dx dw", "MoeBlock_0/wi_0 float8 dx dw",
                                            "MoeBlock_0/wi_1 float8 dx dw", "MoeBlock_0/wo float8 dx dw"};
  EXPECT_EQ(of_experts(with(Quantization::fp8_full, true, MoePath::ragged)), grouped);
  // Of the others Qwix's rule names dot_general alone.
  EXPECT_THAT(of_experts(with(Quantization::int8, true, MoePath::ragged)), ElementsAre("MoeBlock_0/gate int8 dx dw"));
  EXPECT_THAT(of_experts(with(Quantization::fp8_full, true, MoePath::dropping)),
              ElementsAre("MoeBlock_0/gate float8 dx dw"));
}

TEST(NarrowProduct, OfAqtsMegabloxIsTheForwardProduct) {
  TrainConfig config = with(Quantization::int8, false, MoePath::ragged);
  EXPECT_THAT(of_experts(config), ElementsAre("MoeBlock_0/gate int8 dx dw", "MoeBlock_0/wi_0 int8",
                                              "MoeBlock_0/wi_1 int8", "MoeBlock_0/wo int8"));
  config.megablox = false;
  EXPECT_THAT(of_experts(config), ElementsAre("MoeBlock_0/gate int8 dx dw"));
}

TEST(NarrowProduct, OfAqtsDroppingPathIsEveryEinsum) {
  EXPECT_THAT(of_experts(with(Quantization::int8, false, MoePath::dropping)),
              ElementsAre("MoeBlock_0/gate int8 dx dw", "MoeBlock_0/dispatch int8 dx dw", "MoeBlock_0/wi_0 int8 dx dw",
                          "MoeBlock_0/wi_1 int8 dx dw", "MoeBlock_0/wo int8 dx dw", "MoeBlock_0/combine int8 dx dw"));
}

// One entry for all of a layer's products; gradients are wide. Weights alone: the product is, too.
TEST(NarrowProduct, OfMixedPrecisionIsTheForwardProduct) {
  TrainConfig config = with(Quantization::intmp, false);
  EXPECT_THAT(narrow_of("llama2-7b", config), IsEmpty()) << "no bits";
  config.quant_cfg_path.weight_bits = 8;
  EXPECT_EQ(narrow_of("llama2-7b", config).size(), 7U);
  EXPECT_EQ(narrow_of("llama2-7b", config).front(), "self_attention/query int8");
  const auto multiplies_narrow = [&] {
    const Program program = train_program(load_model("llama2-7b"), config, {8, 1, 1});
    for (const auto& op : program.blocks.at(1).operations)
      if (op.narrow) return op.narrow->multiplies_narrow();
    return false;
  };
  EXPECT_FALSE(multiplies_narrow());
  config.quant_cfg_path.activation_bits = 8;
  EXPECT_TRUE(multiplies_narrow());
}

TEST(NarrowProduct, OfTransformerEngineTurnsItsWeight) {
  for (const auto quantization : {Quantization::te_fp8_delayedscaling, Quantization::te_fp8_currentscaling}) {
    const Program program = train_program(load_model("llama2-7b"), with(quantization, false), {8, 1, 1});
    for (const auto& op : program.blocks.at(1).operations) {
      if (!op.narrow) continue;
      EXPECT_TRUE(op.narrow->turns_weight && op.narrow->input_gradient && op.narrow->weight_gradient) << op.name;
      EXPECT_EQ(op.narrow->operands, DType::f8) << op.name;
    }
  }
}

TEST(NarrowProduct, HasTheScalesOfItsCalibration) {
  TrainConfig config = with(Quantization::fp8_full, true);
  config.weight_quantization_calibration_method = {true, "fixed,-224,224"};
  const Program program = train_program(load_model("llama2-7b"), config, {8, 1, 1});
  for (const auto& op : program.blocks.at(1).operations) {
    if (!op.narrow) continue;
    EXPECT_EQ(op.narrow->weight_scaling, Scaling::fixed) << op.name;
    EXPECT_EQ(op.narrow->activation_scaling, Scaling::channelwise) << op.name;
    EXPECT_EQ(op.narrow->gradient_scaling, Scaling::channelwise) << op.name;
    EXPECT_FALSE(op.narrow->narrows_again) << op.name;
  }
}

// Two numbers of 4 bits share a byte; the weight may have fewer than the activation.
TEST(NarrowProduct, HasHalfBytes) {
  EXPECT_EQ(narrow_of("llama2-7b", with(Quantization::int4, true)).front(), "self_attention/query int4 dx dw");
  EXPECT_EQ(narrow_of("llama2-7b", with(Quantization::fp4, true)).front(), "self_attention/query float4 dx dw");
  EXPECT_EQ(recast(Bytes{4096 * 2}, DType::bf16, DType::s4).value, 2048);
  TrainConfig config = with(Quantization::intmp, false);
  config.quant_cfg_path.weight_bits = 4;
  config.quant_cfg_path.activation_bits = 8;
  const Program program = train_program(load_model("llama2-7b"), config, {8, 1, 1});
  for (const auto& block : program.blocks)
    for (const auto& op : block.operations) {
      if (!op.narrow) continue;
      EXPECT_EQ(op.narrow->operands, DType::s8) << op.name;
      EXPECT_EQ(op.narrow->weight_operand, DType::s4) << op.name;
    }
}

// models/qwen3.py gives a delta net's projections, and the shared expert's gate, no quantization; Qwix's rules ask no one.
TEST(NarrowProduct, OfDeltaNetsNeedsQwix) {
  const auto has = [](bool qwix, const char* product) {
    const auto all = narrow_of("qwen3-next-80b-a3b", with(Quantization::int8, qwix, MoePath::ragged));
    return std::find(all.begin(), all.end(), product) != all.end();
  };
  for (const char* product : {"attention/in_proj_qkvz int8 dx dw", "attention/out_proj int8 dx dw",
                              "shared_expert_gate int8 dx dw"}) {
    EXPECT_TRUE(has(true, product)) << product;
    EXPECT_FALSE(has(false, product)) << product;
  }
  EXPECT_TRUE(has(false, "shared_experts/wi_0 int8 dx dw"));
}

}  // namespace
}  // namespace shardplan
