// DeepSeek's batch-split layers: which collectives they make, by hand, of toy_deepseek with rules of their own.
#include <gmock/gmock.h>

#include <models/model_flops.hpp>
#include <models/parameter_count.hpp>

#include "../toy_layers.hpp"

namespace shardplan {
namespace {

using testing::Contains;
using testing::UnorderedElementsAre;
using testing::IsEmpty;

/// Two dense layers and six with 16 experts of [1024, 512]: 16 MiB a matrix in bf16, of which expert=2 holds half.
Model toy_batch_split() {
  Model model = toy_deepseek();
  model.layers = 8;
  model.first_dense_layers = 2;
  model.q_lora_rank = 256;
  model.routed_bias = true;
  model.use_batch_split_schedule = true;
  model.rules = {true,
                 {"data", "fsdp", "expert", "context"},
                 {{"activation_batch", {"data", "fsdp", "expert"}},
                  {"activation_batch_attn", {"data", "fsdp", "expert"}},
                  {"activation_embed_and_logits_batch", {"data", "fsdp", "expert"}},
                  {"activation_kv_batch", {"data", "fsdp", "expert"}},
                  {"embed", {"fsdp"}},
                  {"embed_moe", {"fsdp"}},
                  {"embed_vocab", {"fsdp"}},
                  {"q_lora", {"fsdp"}},
                  {"kv_lora", {"fsdp"}},
                  {"expert_only", {"expert"}}},
                 {"data", "fsdp", "expert"}};
  return model;
}

/// Two sequences of 1024 tokens a device: halves of 1024 tokens, 2 MiB.
std::vector<std::string> lines_of(const std::string& operation, const std::string& mesh = "fsdp=2,expert=2") {
  const ToyRun toy{.model = toy_batch_split(), .config = toy_moe(toy_config(2, 1024), MoePath::ring), .mesh = mesh};
  return lines(run(toy), "moe_layers", operation);
}

// All 16 MiB / 2, for both half batches together: in six forward passes, and in the five backward passes that don't begin
// where the forward pass ended. Each of the six gradients is reduce-scattered, once.
TEST(BatchSplit, MovesAWeightOnceInEachPass) {
  EXPECT_THAT(lines_of("MoeBlock_0/wi_0"),
              UnorderedElementsAre("forward all-gather fsdp 8 MiB x1", "rematerialized_forward all-gather fsdp 8 MiB x5/6",
                          "backward reduce fsdp 8 MiB x1"));
}

// What experts don't split is summed over them too, where it has been scattered: wq_a [1024, 256], 512 KiB.
TEST(BatchSplit, SumsOtherWeightsOverExpertsInShards) {
  EXPECT_THAT(lines_of("self_attention/wq_a"),
              UnorderedElementsAre("forward all-gather fsdp 512 KiB x1",
                                   "rematerialized_forward all-gather fsdp 512 KiB x5/6",
                                   "backward reduce fsdp 512 KiB x1", "backward reduce expert 256 KiB x1"));
}

// Both halves' tokens of two devices, 4 MiB, and weights and ids of 4 experts a token, 16 and 32 KiB. Ids have no gradient.
TEST(BatchSplit, GathersTheTokensOfEachHalf) {
  const auto lines = lines_of("MoeBlock_0/dispatch");
  EXPECT_THAT(lines, Contains("forward all-gather expert 4 MiB x2"));
  EXPECT_THAT(lines, Contains("rematerialized_forward all-gather expert 4 MiB x2"));
  EXPECT_THAT(lines, Contains("backward reduce expert 4 MiB x2"));
  EXPECT_THAT(lines, Contains("forward all-gather expert 16 KiB x2"));
  EXPECT_THAT(lines, Contains("backward reduce expert 16 KiB x2"));
  EXPECT_THAT(lines, Contains("forward all-gather expert 32 KiB x2"));
  EXPECT_THAT(lines, testing::Not(Contains("backward reduce expert 32 KiB x2")));
}

TEST(BatchSplit, ScattersTheSumsOfEachHalf) {
  EXPECT_THAT(lines_of("MoeBlock_0/return"), UnorderedElementsAre("forward reduce expert 4 MiB x2",
                                                         "backward all-gather expert 4 MiB x2"));
  EXPECT_THAT(lines_of("MoeBlock_0/return", "fsdp=4"), IsEmpty());
}

// XLA:TPU would all-reduce what is summed over a whole slice; psum_scatter stays what it is.
TEST(BatchSplit, ScattersItsGradientsWhateverTheCompilersHabit) {
  ToyRun toy{.model = toy_batch_split(), .config = toy_moe(toy_config(2, 1024), MoePath::ring), .mesh = "fsdp=8"};
  toy.compiler = with(plain_compiler(), Habit::all_reduces_over_whole_slices);
  const ToyStep step = run(toy);
  EXPECT_EQ(mebibytes(step, CollectiveKind::reduce_scatter, "fsdp", "moe_layers/MoeBlock_0/wo"), 6 * 16);
  EXPECT_EQ(mebibytes(step, CollectiveKind::all_reduce, "fsdp", "moe_layers/MoeBlock_0/wo"), 0);
  EXPECT_GT(mebibytes(step, CollectiveKind::all_reduce, "fsdp", "dense_layers/mlp/wo"), 0);
}

// Half batches are the batch: parameters and products are those of the plain schedule.
TEST(BatchSplit, IsTheSameModel) {
  Model plain = toy_batch_split();
  plain.use_batch_split_schedule = false;
  EXPECT_EQ(matrix_parameters(toy_batch_split()), matrix_parameters(plain));
  EXPECT_EQ(active_matrix_parameters(toy_batch_split()), active_matrix_parameters(plain));
  EXPECT_DOUBLE_EQ(model_flops_per_token(reference_program(toy_batch_split(), 1024)).value,
                   model_flops_per_token(reference_program(plain, 1024)).value);
}

const Block& moe_layers(const Program& program) {
  for (const auto& block : program.blocks)
    if (block.name == "moe_layers") return block;
  throw std::logic_error("test: no layers with experts");
}

// Whatever remat_policy says; the dense layers heed it.
TEST(BatchSplit, KeepsWhatItsCodeKeeps) {
  const Program program = reference_program(toy_batch_split(), 1024);
  ASSERT_TRUE(moe_layers(program).own_backward);
  for (const auto& [name, place] : *moe_layers(program).own_backward) EXPECT_EQ(place, SavePlace::host) << name;
  EXPECT_FALSE(program.blocks[1].own_backward) << program.blocks[1].name;
}

}  // namespace
}  // namespace shardplan
