// quant_cfg_path: which bits a file gives the products of layers, and what of it names nothing.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <arguments/words/mixed_precision.hpp>
#include <fstream>
#include <shardplan/error.hpp>
#include <tests/unit/own_folder.hpp>
#include <tests/unit/reading.hpp>

namespace shardplan {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

MixedPrecision of(const std::string& text) {
  const std::string path = own_folder() + "bits.json";
  std::ofstream(path) << text;
  return read_mixed_precision(path, "quant_cfg_path=" + path);
}

std::string refusal_of(const std::string& text) {
  try {
    of(text);
  } catch (const InputError& error) {
    return error.what();
  }
  return "";
}

TEST(MixedPrecision, IsThatOfTheDefaultWhereNothingElseNamesLayers) {
  const MixedPrecision precision = of(R"({"__default__": {"w_bits": 8, "a_bits": 8}, ".*/query": {"w_bits": 4}})");
  EXPECT_EQ(precision.weight_bits, 8);
  EXPECT_EQ(precision.activation_bits, 8);
  EXPECT_THAT(precision.unmatched, ElementsAre(".*/query"));
}

// What an entry leaves out is the default's.
TEST(MixedPrecision, IsThatOfANameOfAllLayers) {
  const MixedPrecision precision =
      of(R"({"__default__": {"w_bits": 8, "a_bits": 8}, "decoder/.*layers.*": {"a_bits": null}})");
  EXPECT_EQ(precision.weight_bits, 8);
  EXPECT_EQ(precision.activation_bits, std::nullopt);
  EXPECT_THAT(precision.unmatched, IsEmpty());
}

TEST(MixedPrecision, KnowsMaxTextsOwnFilesWithoutACheckout) {
  const MixedPrecision weights = read_mixed_precision("src/maxtext/configs/quantization/int8_weight_only.json", "");
  EXPECT_EQ(weights.weight_bits, 8);
  EXPECT_EQ(weights.activation_bits, std::nullopt);
  EXPECT_EQ(read_mixed_precision("configs/quantization/dense_llm_subchannel.json", "").unmatched.size(), 6U);
}

TEST(MixedPrecision, RefusesWhatIsNotModelled) {
  EXPECT_THAT(refusal_of(R"({"__default__": {"w_bits": 2}})"), HasSubstr("products of 2 bits are not modelled, of 4 and 8"));
  EXPECT_THAT(refusal_of(R"({"__default__": {"w_bits": 8, "tile_size": 128}})"), HasSubstr("tile_size=128"));
  EXPECT_THAT(refusal_of(R"({".*/query": {"w_bits": 8}})"), HasSubstr("KeyError"));
  EXPECT_THAT(refusal_of(R"({"__default__": {}, "decoder/moe_layers": {"w_bits": 8}})"),
              HasSubstr("the name of some layers alone"));
  EXPECT_THAT(refusal_of(R"({".*": {"w_bits": 8}, "decoder/.*": {"a_bits": 8}})"), HasSubstr("both name all layers"));
  EXPECT_THAT(refusal_of(R"({"__default__": {"w_bit": 8}})"), HasSubstr("w_bit"));
  EXPECT_THAT(refusal_of(R"({"__default__": {}, "(": {}})"), HasSubstr("no regular expression"));
}

TEST(MixedPrecision, IsPrintedAsItsPathAndAsksForLinen) {
  const Configuration c = read_llama("quantization=intmp quant_cfg_path=configs/quantization/int8_weight_only.json");
  EXPECT_EQ(c.config.quant_cfg_path.weight_bits, 8);
  std::string printed;
  for (const auto& [key, value] : maxtext_arguments(c)) printed += key + "=" + value + " ";
  EXPECT_THAT(printed, HasSubstr("quant_cfg_path=configs/quantization/int8_weight_only.json"));
  EXPECT_THAT(printed, HasSubstr("enable_nnx=false"));
}

}  // namespace
}  // namespace shardplan
