// How the partitioner lays out an embedding's lookup and its gradient.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "../toy_layers.hpp"

namespace shardplan {
namespace {

using ::testing::Contains;
using ::testing::UnorderedElementsAre;
using ::testing::UnorderedElementsAreArray;

// Recorded on v5p: rows of tokens are exchanged, or a table that takes less than a device's rows is gathered and its
// gradient summed whole. 4096 rows of 2 KiB are 8 MiB; 1024 tokens take 2 MiB, an exchange forward and one backward.
TEST(Lookups, ATableSmallerThanADevicesRowsIsGathered) {
  const auto moved = [](double sequences, CollectiveKind kind) {
    const ToyRun toy{toy_llama(), toy_config(sequences, 1024), "default", "fsdp=4"};
    return mebibytes(run(toy), kind, "fsdp", "token_embedder");
  };
  EXPECT_EQ(moved(2, CollectiveKind::all_to_all), 2 * 4);
  EXPECT_EQ(moved(2, CollectiveKind::all_gather), 0) << "token ids apart";
  EXPECT_EQ(moved(8, CollectiveKind::all_to_all), 0);
  EXPECT_EQ(moved(8, CollectiveKind::all_gather), 8);
  EXPECT_EQ(moved(8, CollectiveKind::all_reduce) + moved(8, CollectiveKind::reduce_scatter), 8);
}

// A device looks the tokens of data's copies up in its columns, too: 4 MiB of the table and 8 MiB for 1024 tokens on a
// device, where the whole table and a device's own rows are 8 and 2. Its gradient is summed over both axes at once, whole.
TEST(Lookups, ATableBesideDataIsGatheredWhereLookingUpInColumnsHoldsMore) {
  const auto moved = [](int tokens, CollectiveKind kind, const char* axes) {
    const ToyRun toy{toy_llama(), toy_config(1, tokens), "default", "data=4,fsdp=2"};
    return mebibytes(run(toy), kind, axes, "token_embedder");
  };
  EXPECT_EQ(moved(512, CollectiveKind::all_to_all, "fsdp"), 2 * 1);
  EXPECT_EQ(moved(512, CollectiveKind::all_gather, "fsdp"), 0);
  EXPECT_EQ(moved(2048, CollectiveKind::all_to_all, "fsdp"), 0);
  EXPECT_EQ(moved(2048, CollectiveKind::all_gather, "fsdp"), 8);
  EXPECT_EQ(moved(2048, CollectiveKind::all_reduce, "data+fsdp"), 8);
}

// A table of 8 MiB; 1024 tokens a device take 2 MiB, those of all four as much as the table. Its gradient needs twice.
TEST(Lookups, ATableUpToTheRowsOfAllTokensIsGathered) {
  const auto moved = [](double sequences, Phase phase, CollectiveKind kind) {
    const ToyRun toy{toy_llama(), toy_config(sequences, 1024), "default", "data=2,fsdp=2",
                     with(plain_compiler(), Habit::gathers_tables_up_to_rows)};
    std::int64_t bytes = 0;
    for (const auto& c : run(toy).collectives)
      if (c.phase == phase && c.kind == kind && c.op.find("token_embedder") != std::string::npos) bytes += c.bytes.value;
    return bytes >> 20;
  };
  EXPECT_EQ(moved(0.5, Phase::forward, CollectiveKind::all_gather), 0);
  EXPECT_EQ(moved(1, Phase::forward, CollectiveKind::all_gather), 8);
  EXPECT_EQ(moved(1, Phase::backward, CollectiveKind::all_to_all), 2);
  EXPECT_EQ(moved(2, Phase::forward, CollectiveKind::all_gather), 8);
  EXPECT_EQ(moved(2, Phase::backward, CollectiveKind::all_to_all), 0);
  EXPECT_EQ(moved(2, Phase::backward, CollectiveKind::all_reduce), 8);
}

// The table [4096, 1024] is 8 MiB; rows of 8,192 tokens are 16 MiB, 4 MiB on a device, those of 1,024 an eighth.
TEST(Lookups, ATableSmallerThanItsRowsIsGatheredForItsGradient) {
  const auto gathered = [](int length) {
    ToyRun toy{toy_llama(), toy_config(2, length), "default", "data=2,tensor=2"};
    toy.compiler.habits.add(Habit::orders_rows_of_split_words);
    return mebibytes(run(toy), CollectiveKind::all_gather, "tensor", "token_embedder");
  };
  EXPECT_EQ(gathered(1024), 8);
  EXPECT_EQ(gathered(128), 1) << "rows";
}

// 8 sequences of 1024 tokens are more than the 4096 rows of the table: the table [4096, 1024] (8 MiB) is gathered, not
// the looked-up columns [8, 1024, 1024] (16 MiB); with 2 sequences (4 MiB) it is the other way round.
TEST(Lookups, UnderContextParallelismTheSmallerOfTableAndColumnsIsGathered) {
  ToyRun toy{toy_llama(), toy_config(1, 1024), "default", "fsdp=4,context=2"};
  EXPECT_THAT(lines(run(toy), "embedding"), Contains("forward all-gather fsdp+context 8 MiB x1"));
  EXPECT_THAT(lines(run(toy), "embedding"), Contains("backward reduce fsdp+context 8 MiB x1"));
  toy.config = toy_config(0.5, 512);
  EXPECT_THAT(lines(run(toy), "embedding"), Contains("forward all-gather fsdp+context 4 MiB x1"));
}

// Rows for a gradient come from data's copies, too: 2 * 1280 tokens a device are 5 MiB of rows, those of all 40. Forward a
// device's columns take 2 MiB of the table and 10 of rows, the whole table and its own rows 13; backward rows are gathered
// over data, 5 MiB to 10. A sum of which a device keeps its shard may be split.
TEST(Lookups, AGradientThatGathersRowsOverDataIsMadeWholeBeforeTheTableIsGathered) {
  ToyRun toy{toy_llama(), toy_config(2, 1280), "default", "data=2,fsdp=4"};
  const auto moved = [&] { return lines(run(toy), "embedding", "token_embedder", Bytes{1 << 20}); };
  EXPECT_THAT(moved(), UnorderedElementsAre("forward all-to-all fsdp 5 MiB x1", "backward reduce data+fsdp 8 MiB x1"));
  toy.compiler.habits.add(Habit::splits_sliced_sums);
  EXPECT_THAT(moved(), UnorderedElementsAre("forward all-to-all fsdp 5 MiB x1", "backward reduce fsdp 8 MiB x1",
                                            "backward reduce data 2 MiB x1"));
}

// fsdp splits the batch and the table's columns, context the sequence and those too; data the batch alone. A device has
// 2 MiB of rows, 1024 tokens, and 8 MiB of the table's 32. The head's gradient is reduced by itself.
TEST(Lookups, ColumnsOfBatchAndSequenceGatherRowsOverData) {
  const auto moved = [](const char* mesh) {
    ToyRun toy{toy_llama(), toy_config(1, 1024), "default", mesh};
    toy.model.vocab = 16384;
    return lines(run(toy), "embedding", "token_embedder", Bytes{1 << 20});
  };
  EXPECT_THAT(moved("data=2,fsdp=2,context=2"),
              UnorderedElementsAre("forward all-gather data 4 MiB x1", "forward all-to-all data 2 MiB x1",
                                   "forward all-to-all fsdp+context 2 MiB x1",
                                   "forward collective-permute data+fsdp+context 2 MiB x1",
                                   "backward all-gather context 4 MiB x1", "backward all-to-all data+fsdp 4 MiB x1",
                                   "backward collective-permute data+fsdp+context 4 MiB x1",
                                   "backward reduce data 8 MiB x1"));
  EXPECT_THAT(moved("data=2,fsdp=2,context=4"),
              UnorderedElementsAre("forward all-gather data 4 MiB x1", "forward all-gather fsdp+context 32 MiB x1",
                                   "backward all-gather data+fsdp+context 32 MiB x1", "backward reduce data 4 MiB x1"));
}

struct SplitWordsRow {
  const char* mesh;
  std::int64_t vocab;
  std::vector<std::string> lines;
};

// Words split over tensor. Eight sequences of 1024 tokens are 16 MiB of rows; a device has 2 MiB, [2, 1024, 512] or
// [4, 1024, 256]. The table [16384, 1024] is 32 MiB, [4096, 1024] less than the rows.
TEST(Lookups, RowsOfSplitWordsArePutInOrder) {
  for (const SplitWordsRow& row : {
           SplitWordsRow{"fsdp=4,tensor=2", 16384,
                         {"forward reduce tensor 4 MiB x1", "forward all-to-all fsdp 2 MiB x1",
                          "forward collective-permute fsdp+tensor 2 MiB x1", "backward all-gather tensor 4 MiB x1",
                          "backward all-to-all fsdp 4 MiB x1", "backward collective-permute fsdp+tensor 2 MiB x1",
                          "backward reduce fsdp 16 MiB x1"}},
           SplitWordsRow{"fsdp=2,tensor=4", 16384,
                         {"forward reduce tensor 8 MiB x1", "forward collective-permute fsdp+tensor 2 MiB x1",
                          "backward all-gather tensor 8 MiB x1", "backward all-to-all fsdp 8 MiB x1",
                          "backward collective-permute fsdp+tensor 2 MiB x1", "backward reduce fsdp 8 MiB x1"}},
           SplitWordsRow{"data=4,tensor=2", 16384,
                         {"forward reduce tensor 4 MiB x1", "forward all-to-all data 4 MiB x1",
                          "forward collective-permute data+tensor 2 MiB x1", "backward all-gather tensor 4 MiB x1",
                          "backward all-to-all data 4 MiB x1", "backward collective-permute data+tensor 2 MiB x1",
                          "backward reduce data 16 MiB x1"}},
           SplitWordsRow{"fsdp=4,tensor=2", 4096,
                         {"forward reduce tensor 4 MiB x1", "forward all-to-all fsdp 2 MiB x1",
                          "forward collective-permute fsdp+tensor 2 MiB x1", "backward all-gather tensor 4 MiB x1",
                          "backward reduce fsdp 4 MiB x1"}},
           SplitWordsRow{"tensor=8", 4096, {"forward reduce tensor 16 MiB x1", "backward all-to-all tensor 1 MiB x1"}},
           SplitWordsRow{"tensor=8", 16384, {"forward reduce tensor 16 MiB x1", "backward all-gather tensor 16 MiB x1"}},
       }) {
    ToyRun toy{toy_llama(), toy_config(1, 1024), "default", row.mesh};
    toy.model.vocab = row.vocab;
    EXPECT_THAT(lines(run(toy), "embedding", "token_embedder", Bytes{1 << 20}), UnorderedElementsAreArray(row.lines))
        << row.mesh << " of " << row.vocab;
  }
}

// Two layers with sliding windows and one without are an iteration: of seven layers one is behind the scan's two.
TEST(Lookups, ATiedHeadGathersItsTableAgainBehindLayersThatNoWholeCycleHolds) {
  const auto gathered = [](int layers, const Compiler& compiler) {
    ToyRun toy{toy_llama(), toy_config(8, 1024), "default", "fsdp=4", compiler};
    toy.model.tied_embedding = true;
    toy.model.layers = layers;
    toy.model.attention_pattern = {256, 2};
    return mebibytes(run(toy), CollectiveKind::all_gather, "fsdp", "token_embedder") +
           mebibytes(run(toy), CollectiveKind::all_gather, "fsdp", "logits_dense");
  };
  const Compiler again = with(plain_compiler(), Habit::gathers_tables_again_behind_scans);
  EXPECT_EQ(gathered(6, again), 8);
  EXPECT_EQ(gathered(7, again), 2 * 8);
  EXPECT_EQ(gathered(7, plain_compiler()), 8);
}

}  // namespace
}  // namespace shardplan
