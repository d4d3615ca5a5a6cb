// What a remat policy keeps and what runs again, first on a block of four operations, then on real layers
// (SHARDING.md section 4).
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cost_models/blocks/liveness.hpp>
#include <cost_models/operations/operation_kind.hpp>
#include <set>

#include "../memory_toys.hpp"

namespace shardplan {
namespace {

using testing::IsEmpty;
using testing::UnorderedElementsAre;

constexpr auto device = SavePlace::device;
constexpr auto host = SavePlace::host;
constexpr auto recompute = SavePlace::recompute;

// x -up-> "hidden" -gelu-> "activated" -down-> "out" -residual(+x)-> y; the gradient of down reads activated, of gelu
// hidden.
Block mlp_block() {
  Block block;
  block.rematerialized = true;
  for (const char* name : {"x", "up weight", "hidden", "activated", "down weight", "out", "y"}) {
    Tensor tensor = toy_tensor({{Dim::batch, 2}, {Dim::embed, 2}});
    tensor.name = name;
    tensor.parameter = tensor.name.ends_with("weight");
    if (!tensor.parameter) tensor.checkpoint_names = {name};
    block.tensors.push_back(tensor);
  }
  block.operations = {{OpKind::einsum, "up", {0, 1}, 2},
                      {OpKind::elementwise, "gelu", {2}, 3},
                      {OpKind::einsum, "down", {3, 4}, 5},
                      {OpKind::add, "residual", {0, 5}, 6}};
  block.input = 0;
  block.output = 6;
  return block;
}

template <class Ids>
std::vector<std::string> named(const Block& block, const Ids& ids) {
  std::vector<std::string> names;
  for (const TensorId id : ids) names.push_back(block.tensors[id].name);
  return names;
}

std::vector<std::string> run_again(const Block& block, const Liveness& liveness) {
  std::vector<std::string> names;
  for (std::size_t i = 0; i < block.operations.size(); ++i)
    if (liveness.recomputed[i]) names.push_back(block.operations[i].name);
  return names;
}

using Names = std::vector<std::string>;

/// attention=cudnn_flash_jax: its result may be saved, for what reads it; its own gradient reads what has no name.
TEST(Liveness, WhatKeepsForItselfRunsAgain) {
  Block block = mlp_block();
  block.operations[1].keeps_for_itself = true;
  const std::map<std::string, SavePlace> all = {{"hidden", device}, {"activated", device}, {"out", device}};
  const Liveness kept = liveness_of(block, all);
  EXPECT_THAT(run_again(block, kept), UnorderedElementsAre("gelu"));
  EXPECT_THAT(named(block, kept.saved), UnorderedElementsAre("x", "hidden", "activated"));
  block.rematerialized = false;
  EXPECT_THAT(run_again(block, liveness_of(block, all)), IsEmpty());
}

struct LivenessRow {
  const char* what;
  std::map<std::string, SavePlace> places;
  Names saved, offloaded, recomputed;
};

TEST(Liveness, OfASmallBlock) {
  const LivenessRow rows[] = {
      {"nothing saved: input only, everything that is read runs again", {}, {"x"}, {}, {"up", "gelu"}},
      {"hidden saved", {{"hidden", device}}, {"x", "hidden"}, {}, {"gelu"}},
      {"activated saved: hidden is still read by gelu's gradient",
       {{"activated", device}},
       {"x", "activated"},
       {},
       {"up"}},
      {"both saved: nothing runs again",
       {{"hidden", device}, {"activated", device}},
       {"x", "hidden", "activated"},
       {},
       {}},
      {"out saved: nobody reads it", {{"out", device}}, {"x"}, {}, {"up", "gelu"}},
      {"hidden on the host", {{"hidden", host}}, {"x"}, {"hidden"}, {"gelu"}},
      {"asked to recompute", {{"hidden", recompute}}, {"x"}, {}, {"up", "gelu"}},
      {"the input on the host", {{"decoder_layer_input", host}}, {}, {"x"}, {"up", "gelu"}},
      {"unknown names save nothing", {{"mlpwo", device}}, {"x"}, {}, {"up", "gelu"}},
  };
  const Block block = mlp_block();
  for (const auto& row : rows) {
    SCOPED_TRACE(row.what);
    const Liveness liveness = liveness_of(block, row.places);
    EXPECT_THAT(named(block, liveness.saved), testing::UnorderedElementsAreArray(row.saved));
    EXPECT_THAT(named(block, liveness.offloaded), testing::UnorderedElementsAreArray(row.offloaded));
    EXPECT_EQ(run_again(block, liveness), row.recomputed);
  }
}

struct GradientRow {
  const char* what;
  OpKind kind;
  TensorIds inputs;
  Names reads;
};

// Tensors x, mask (no gradient), out: what the backward pass of one operation reads.
TEST(ReadByGradient, IsWhatTheDerivativeNeeds) {
  Block block;
  for (const char* name : {"x", "mask", "y", "out"}) {
    block.tensors.push_back(toy_tensor({{Dim::batch, 2}}));
    block.tensors.back().name = name;
  }
  block.tensors[1].differentiable = false;
  const GradientRow rows[] = {
      {"a product: the gradient of each operand reads the other", OpKind::einsum, {0, 2}, {"x", "y"}},
      {"a product with a mask: nobody asks for the mask's gradient", OpKind::einsum, {0, 1}, {"mask"}},
      {"elementwise reads its inputs", OpKind::elementwise, {0, 2}, {"x", "y"}},
      {"so does a norm", OpKind::normalization, {0, 2}, {"x", "y"}},
      {"a sum reads nothing", OpKind::add, {0, 2}, {}},
      {"nor does a constraint", OpKind::constrain, {0}, {}},
      {"attention reads its output too", OpKind::attention, {0, 2}, {"x", "y", "out"}},
      {"dispatch reads the routing only", OpKind::ragged_dispatch, {0, 2}, {"y"}},
      {"the ring's return weighs rows by routing", OpKind::ring_return, {0, 2}, {"x", "y"}},
  };
  for (const auto& row : rows)
    EXPECT_THAT(named(block, operation_kind(row.kind).read_by_gradient(block, {row.kind, "op", row.inputs, 3})),
                testing::UnorderedElementsAreArray(row.reads))
        << row.what;
}

TEST(Liveness, WithoutRematerializationKeepsWhatIsRead) {
  Block block = mlp_block();
  block.rematerialized = false;
  const Liveness liveness = liveness_of(block, {});
  EXPECT_THAT(named(block, liveness.saved), UnorderedElementsAre("x", "hidden", "activated"));
  EXPECT_THAT(run_again(block, liveness), IsEmpty());
}

// Each pass looks its rotations up by itself: what follows runs again, up to where a policy saves it.
TEST(Liveness, WhatFollowsFromALookupIsNotMerged) {
  Block block = mlp_block();
  block.rematerialized = false;
  block.single_run = SingleRun::merged;
  block.operations[1].looks_up_rotation = true;
  const bool output_needed = false;
  const Liveness merged = liveness_of(block, {}, output_needed, true), parted = liveness_of(block, {}, output_needed, false);
  EXPECT_THAT(run_again(block, merged), IsEmpty());
  EXPECT_THAT(run_again(block, parted), UnorderedElementsAre("gelu"));
  EXPECT_THAT(named(block, parted.saved), UnorderedElementsAre("x", "hidden"));
  const Liveness named_result = liveness_of(block, {{"activated", device}}, output_needed, false);
  EXPECT_THAT(run_again(block, named_result), IsEmpty());
  EXPECT_THAT(named(block, named_result.saved), UnorderedElementsAre("x", "hidden", "activated"));
}

/// Names of the saved tensors of the first block called `block`, the input left out.
Names kept(const Model& model, const std::string& block, const std::string& remat, MoePath path = MoePath::none) {
  const TrainConfig config = toy_moe(toy_config(1, 256, remat), path);
  const Program program = train_program(model, config, {8, 1, 8});
  for (const auto& candidate : program.blocks) {
    if (candidate.name != block) continue;
    Liveness liveness = liveness_of(candidate, config.saved);
    std::erase(liveness.saved, candidate.input);
    liveness.saved.insert(liveness.saved.end(), liveness.offloaded.begin(), liveness.offloaded.end());
    return named(candidate, liveness.saved);
  }
  throw std::logic_error("test: no block " + block);
}

TEST(Liveness, OfADenseLayerUnderEachPolicy) {
  const auto dense = [](const char* remat) { return kept(toy_llama(), "layers", remat); };
  EXPECT_THAT(dense("full"), IsEmpty());
  EXPECT_THAT(dense("save_qkv_proj"), UnorderedElementsAre("query", "key", "value"));
  EXPECT_THAT(dense("save_out_proj"), UnorderedElementsAre("attention output"));
  EXPECT_THAT(dense("save_dot_except_mlp"), UnorderedElementsAre("query", "key", "value", "attention output"));
  EXPECT_THAT(dense("save_dot_with_context_except_mlp"),
              UnorderedElementsAre("query", "key", "value", "context", "attention output"));
  // mlpwo is named, but the gradient of the residual reads nothing (compiled: residuals of the loop are these six).
  EXPECT_THAT(dense("minimal"),
              UnorderedElementsAre("query", "key", "value", "attention output", "mlp/wi_0 output", "mlp/wi_1 output"));
  EXPECT_THAT(dense("minimal_offloaded"),
              UnorderedElementsAre("query", "key", "value", "attention output", "mlp/wi_0 output", "mlp/wi_1 output"));
}

TEST(Liveness, MinimalKeepsTheMlpOutputWhereANormReadsIt) {
  Model gemma = toy_llama();
  gemma.use_post_ffw_norm = true;
  EXPECT_THAT(kept(gemma, "layers", "minimal"), testing::Contains("mlp output"));
  EXPECT_THAT(kept(toy_llama(), "layers", "minimal"), testing::Not(testing::Contains("mlp output")));
}

// The combine einsum reads the expert output; the sparse path names wi_1 only moe_mlpwi_1, so minimal computes it
// again.
TEST(Liveness, OfMixtureLayersUnderMinimal) {
  EXPECT_THAT(kept(toy_mixtral(), "layers", "minimal", MoePath::dropping),
              UnorderedElementsAre("query", "key", "value", "attention output", "expert wi_0 output",
                                   "expert wi_1 output", "expert output"));
  EXPECT_THAT(kept(toy_mixtral(), "layers", "minimal", MoePath::ring),
              UnorderedElementsAre("query", "key", "value", "attention output", "expert wi_0 output", "expert output"));
  EXPECT_THAT(kept(toy_mixtral(), "layers", "full", MoePath::dropping), IsEmpty());
}

struct ContextRow {
  AttentionKernel attention;
  const char* remat;
  bool again;
};

/// MaxText names the result of attention inside of its kernels; dot_product's has no name that a policy could save it by.
TEST(AttentionResult, IsSavedByItsKernel) {
  for (const auto& [attention, remat, again] : {ContextRow{AttentionKernel::flash, "minimal", true},
                                                ContextRow{AttentionKernel::flash, "minimal_with_context", false},
                                                ContextRow{AttentionKernel::cudnn_flash_te, "minimal_with_context", false},
                                                ContextRow{AttentionKernel::dot_product, "minimal_with_context", true},
                                                ContextRow{AttentionKernel::dot_product, "minimal", true}}) {
    TrainConfig config = toy_config(1, 1024, remat);
    config.attention = attention;
    const ToyMemory toy({toy_llama(), config, "default", "fsdp=1"});
    const PartitionedBlock& layer = toy.block("layers");
    const auto& operations = layer.block->operations;
    const auto kernel = std::find_if(operations.begin(), operations.end(),
                                     [](const Operation& op) { return op.kind == OpKind::attention; });
    ASSERT_NE(kernel, operations.end());
    EXPECT_EQ(layer.liveness.recomputed[static_cast<std::size_t>(kernel - operations.begin())], again)
        << name_of(attention) << " " << remat;
  }
}

}  // namespace
}  // namespace shardplan
