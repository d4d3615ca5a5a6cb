// Held scores under context parallelism: where each head of keys has one of queries a device multiplies all queries with
// its own keys (recorded: llama27bx3_h100x8_fsdp4_context2_full, gemma7bx3_h100x8_fsdp4_context2_full).
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "../memory_toys.hpp"

namespace shardplan {
namespace {

using testing::UnorderedElementsAre;

ToyRun held_scores(const Model& model) {
  ToyRun toy{model, toy_config(1, 1024), "default", "fsdp=4,context=2",
             with(plain_compiler(), Habit::splits_keys_of_single_queries)};
  toy.config.attention = AttentionKernel::dot_product;
  return toy;
}

// Queries, keys, values and the result of 2 sequences are 4 MiB each once they are whole, 16,384 rows of scores; scores
// [2, 8, 1024, 512] 16 MiB, their mask [2, 1024, 512] 1 MiB.
TEST(SplitKeys, GatherQueriesAndScatterTheResult) {
  EXPECT_THAT(
      lines(run(held_scores(toy_llama())), "layers", "attention_op"),
      UnorderedElementsAre("forward all-gather context 4 MiB x1", "forward reduce context 32 KiB x1",
                           "forward reduce context 64 KiB x1", "forward reduce context 4 MiB x1",
                           "rematerialized_forward all-gather context 4 MiB x3",
                           "rematerialized_forward reduce context 32 KiB x1",
                           "rematerialized_forward reduce context 64 KiB x1",
                           "rematerialized_forward reduce context 4 MiB x1", "backward all-gather context 4 MiB x1",
                           "backward all-gather context 32 KiB x1", "backward all-to-all context 16 MiB x2",
                           "backward all-to-all context 1 MiB x1", "backward reduce context 32 KiB x1",
                           "backward reduce context 4 MiB x1"));
}

TEST(SplitKeys, AreThoseOfSingleQueriesAlone) {
  Model grouped = toy_llama();
  grouped.kv_heads = 4;
  for (const std::string& line : lines(run(held_scores(grouped)), "layers", "attention_op"))
    EXPECT_EQ(line.find("all-to-all"), std::string::npos) << line;
  ToyRun kernel = held_scores(toy_llama());
  kernel.config.attention = AttentionKernel::cudnn_flash_jax;
  for (const std::string& line : lines(run(kernel), "layers", "attention_op"))
    EXPECT_EQ(line.find("all-to-all"), std::string::npos) << line;
}

// Probabilities, their gradient, scores as they are sent and twice as they came: 5 · 16 MiB.
TEST(SplitKeys, HoldFiveTimesTheScores) {
  const ToyMemory toy(held_scores(toy_llama()));
  const auto size_of_all = [&](const char* words) {
    Bytes all;
    for (const Lifetime& life : lives_of(toy, "layers", words)) all += life.bytes;
    return mib(all);
  };
  EXPECT_EQ(size_of_all("attention probabilities"), 16);
  EXPECT_EQ(size_of_all("attention probabilities gradient"), 16);
  EXPECT_EQ(size_of_all("attention scores, exchanged"), 48);
  EXPECT_EQ(size_of_all("attention mask"), 0);
}

}  // namespace
}  // namespace shardplan
