// What the loss computes on the way, and what is written over the logits behind it.
#include <gtest/gtest.h>

#include <cost_models/partition/logits.hpp>

namespace shardplan {
namespace {

// A head may have other elementwise work (DeepSeek 4 weighs its streams there).
TEST(PartOfLoss, IsOnlyWhatTheLossReads) {
  Block head;
  head.kind = BlockKind::head;
  head.tensors.resize(5);
  head.operations = {{OpKind::elementwise, "weights of streams", {0}, 1},
                     {OpKind::elementwise, "cap", {1}, 2},
                     {OpKind::constrain, "capped logits", {2}, 3},
                     {OpKind::cross_entropy, "loss", {3}, 4}};
  const DataFlow flow(head);
  EXPECT_FALSE(is_part_of_loss(head, flow, head.operations[0]));
  EXPECT_TRUE(is_part_of_loss(head, flow, head.operations[1]));
  EXPECT_FALSE(is_part_of_loss(head, flow, head.operations[3]));
}

/// Logits of 8 tokens and 32 words that something reads beside the loss or before it.
Block head_with(std::vector<Operation> behind_logits) {
  const TensorDim tokens{Dim::batch, 8}, embed{Dim::embed, 4}, words{Dim::vocab, 32};
  Block head;
  head.kind = BlockKind::head;
  head.tensors.resize(6);
  head.tensors[0].dims = {tokens, embed};
  head.tensors[1].dims = {embed, words};
  for (int i = 2; i < 6; ++i) head.tensors[i].dims = {tokens, words};
  head.operations = {{OpKind::einsum, "logits", {0, 1}, 2}};
  for (auto& op : behind_logits) head.operations.push_back(std::move(op));
  return head;
}

bool is_written_over(const Block& head, const Compiler& compiler) {
  std::vector<PartitionSpec> specs;
  for (const Tensor& tensor : head.tensors) {
    specs.emplace_back();
    for (std::size_t i = 0; i < tensor.dims.size(); ++i) specs.back().dims.push_back({});
  }
  return writes_over_logits(head, DataFlow(head), specs, Mesh{}, compiler);
}

bool is_written_over(const Block& head, Habit habit) {
  Compiler compiler;
  compiler.habits.add(habit);
  return is_written_over(head, compiler);
}

TEST(WritesOverLogits, AsCappedOnlyWhereTheLossReadsTheCap) {
  const Block plain = head_with({{OpKind::cross_entropy, "loss", {2}, 3}});
  const Block capped = head_with({{OpKind::elementwise, "cap", {2}, 3}, {OpKind::cross_entropy, "loss", {3}, 4}});
  const Block beside = head_with({{OpKind::elementwise, "statistics", {2}, 3}, {OpKind::cross_entropy, "loss", {2}, 4}});
  const Block constrained = head_with({{OpKind::constrain, "logits", {2}, 3},
                                       {OpKind::elementwise, "cap", {3}, 4},
                                       {OpKind::cross_entropy, "loss", {4}, 5}});
  for (const Block* head : {&plain, &beside}) {
    EXPECT_TRUE(is_written_over(*head, Habit::overwrites_logits));
    EXPECT_FALSE(is_written_over(*head, Habit::overwrites_capped_logits));
  }
  for (const Block* head : {&capped, &constrained}) {
    EXPECT_FALSE(is_written_over(*head, Habit::overwrites_logits));
    EXPECT_TRUE(is_written_over(*head, Habit::overwrites_capped_logits));
  }
}

// 4 features: 8 tokens are 2 for each, 9 are more than that.
TEST(WritesOverLogits, OfFewTokensForTheWidthOrOfOneSequence) {
  struct Row {
    const char* what;
    std::int64_t sequences, tokens_of_each;
    bool written_over;
  };
  const Row rows[] = {
      {"as many as the file says", 2, 4, true},
      {"more of them", 3, 3, false},
      {"of one sequence", 1, 64, true},
  };
  Compiler compiler;
  compiler.habits.add(Habit::overwrites_capped_logits);
  compiler.head_sizes[Habit::overwrites_capped_logits] = {.tokens_per_embed = 2, .up_to_sequences = 1};
  for (const Row& row : rows) {
    Block head = head_with({{OpKind::elementwise, "cap", {2}, 3}, {OpKind::cross_entropy, "loss", {3}, 4}});
    for (Tensor& tensor : head.tensors) {
      if (tensor.dims.empty() || tensor.dims.front().dim != Dim::batch) continue;
      tensor.dims.front().size = row.sequences;
      tensor.dims.insert(tensor.dims.begin() + 1, TensorDim{Dim::sequence, row.tokens_of_each});
    }
    EXPECT_EQ(is_written_over(head, compiler), row.written_over) << row.what;
  }
}

// 4 features: 2 tokens are half of one for each.
TEST(WritesOverLogits, OfFewerTokensWhereADeviceHasOneSequence) {
  struct Row {
    std::int64_t sequences, tokens_of_each;
    bool written_over;
  };
  Compiler compiler;
  compiler.habits.add(Habit::overwrites_logits);
  compiler.head_sizes[Habit::overwrites_logits] = {.tokens_per_embed = 2, .of_one_sequence = 0.5};
  Compiler of_one_alone = compiler;
  of_one_alone.head_sizes[Habit::overwrites_logits] = {.of_one_sequence = 0.5};
  for (const Row& row : {Row{1, 2, true}, Row{1, 3, false}, Row{2, 2, true}, Row{2, 4, true}, Row{2, 5, false}}) {
    Block head = head_with({{OpKind::cross_entropy, "loss", {2}, 3}});
    for (Tensor& tensor : head.tensors) {
      if (tensor.dims.empty() || tensor.dims.front().dim != Dim::batch) continue;
      tensor.dims.front().size = row.sequences;
      tensor.dims.insert(tensor.dims.begin() + 1, TensorDim{Dim::sequence, row.tokens_of_each});
    }
    EXPECT_EQ(is_written_over(head, compiler), row.written_over) << row.sequences << " x " << row.tokens_of_each;
    EXPECT_EQ(is_written_over(head, of_one_alone), row.sequences > 1 || row.written_over) << "of several at any number";
  }
}

/// The same head of so many words.
Block head_of(std::int64_t words) {
  Block head = head_with({{OpKind::cross_entropy, "loss", {2}, 3}});
  for (Tensor& tensor : head.tensors)
    for (TensorDim& dim : tensor.dims)
      if (dim.dim == Dim::vocab) dim.size = words;
  return head;
}

// Recorded of 32,000, 128,256 and 151,936 words (qwen38bx2_h100x8_fsdp8_4x2048_notriton).
TEST(WritesOverLogits, ButWhereOneKernelMakesTheLossValueWithTheGradient) {
  Compiler compiler;
  compiler.habits.add(Habit::overwrites_logits);
  EXPECT_TRUE(is_written_over(head_of(151936), compiler));
  compiler.habits.add(Habit::makes_loss_value_with_gradient);
  for (const std::int64_t words : {32000, 128256, 151936}) EXPECT_FALSE(is_written_over(head_of(words), compiler)) << words;
}

}  // namespace
}  // namespace shardplan
