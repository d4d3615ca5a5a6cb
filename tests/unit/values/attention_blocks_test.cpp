#include <gtest/gtest.h>

#include <rapidcheck/gtest.h>
#include <shardplan/attention/attention_blocks.hpp>
#include <shardplan/train_config.hpp>

namespace shardplan {
namespace {

BlockLoop loop_of(SplashKernel kernel, std::int64_t sequence, AttentionWindow window, BlockSizes block,
                  SplashLibrary library = SplashLibrary::jax) {
  return block_loop(library, kernel, sequence, window, block);
}

// 4 x 4 blocks: the 4 on the diagonal are cut, the 6 below it whole, the 6 above left out.
TEST(AttentionBlocks, ACausalMaskLeavesThoseOnAndBelowTheDiagonal) {
  const BlockSizes block{1024, 1024, 512};
  const BlockLoop forward = loop_of(SplashKernel::forward, 4096, {}, block);
  EXPECT_EQ(forward.visited, 10);
  EXPECT_EQ(forward.masked, 4);
  EXPECT_EQ(forward.rows, 4);
  EXPECT_EQ(forward.steps, 16);
  EXPECT_EQ(forward.block.multiplied_keys, 512);
  EXPECT_EQ(loop_of(SplashKernel::forward, 4096, {}, block, SplashLibrary::tokamax).steps, 10);
  EXPECT_EQ(loop_of(SplashKernel::fused_gradient, 4096, {}, block, SplashLibrary::tokamax).steps, 16);
}

// 8 rows of queries, 2 columns of keys: rows 0 to 3 see one, 4 to 7 two; of them the first is whole to 4 … 7 alone.
TEST(AttentionBlocks, QueriesAndKeysMayDiffer) {
  const BlockSizes block{512, 2048, 2048};
  const BlockLoop forward = loop_of(SplashKernel::forward, 4096, {}, block);
  EXPECT_EQ(forward.visited, 12);
  EXPECT_EQ(forward.masked, 8);
  EXPECT_EQ(forward.rows, 8);
  const BlockLoop gradient = loop_of(SplashKernel::key_value_gradient, 4096, {}, block);
  EXPECT_EQ(gradient.visited, 12);
  EXPECT_EQ(gradient.rows, 2);
  EXPECT_EQ(gradient.steps, 16);
}

// A window of 1,024 in blocks of 512: a row sees at most three blocks, of which the middle one is whole. Two columns' grid
// has three rows each; the fused kernel visits all.
TEST(AttentionBlocks, WindowsShrinkTheGrid) {
  const AttentionWindow sliding{1024, WindowShape::sliding}, chunked{1024, WindowShape::chunked};
  const BlockSizes block{512, 512, 512};
  const BlockLoop forward = loop_of(SplashKernel::forward, 4096, sliding, block);
  EXPECT_EQ(forward.visited, 1 + 2 + 6 * 3);
  EXPECT_EQ(forward.masked, 1 + 1 + 6 * 2);
  EXPECT_EQ(forward.steps, 8 * 3);
  EXPECT_EQ(loop_of(SplashKernel::key_value_gradient, 4096, sliding, block).steps, 8 * 3);
  EXPECT_EQ(loop_of(SplashKernel::fused_gradient, 4096, sliding, block).steps, 8 * 8);
  const BlockLoop in_chunks = loop_of(SplashKernel::forward, 4096, chunked, block);
  EXPECT_EQ(in_chunks.visited, 4 * 3);
  EXPECT_EQ(in_chunks.masked, 8);
  EXPECT_EQ(in_chunks.steps, 8 * 2);
}

TEST(AttentionBlocks, AreNoLargerThanTheSequence) {
  const BlockLoop loop = loop_of(SplashKernel::forward, 256, {}, {512, 2048, 1024});
  EXPECT_EQ(loop.visited, 1);
  EXPECT_EQ(loop.block.queries, 256);
  EXPECT_EQ(loop.block.keys, 256);
  EXPECT_EQ(loop.block.multiplied_keys, 256);
}

TEST(AttentionBlocks, HeadsFillWholeRegisters) {
  EXPECT_EQ(register_lanes(64), 128);
  EXPECT_EQ(register_lanes(128), 128);
  EXPECT_EQ(register_lanes(192), 256);
}

// By each query and key: a block is visited if the mask leaves a pair of it, masked if it also cuts one.
RC_GTEST_PROP(AttentionBlocks, AreThoseOfTheMaskPairByPair, ()) {
  const auto sequence = *rc::gen::inRange<std::int64_t>(1, 40);
  const BlockSizes block{*rc::gen::inRange<std::int64_t>(1, 12), *rc::gen::inRange<std::int64_t>(1, 12), 1};
  const AttentionWindow window{*rc::gen::inRange<std::int64_t>(0, 30),
                               *rc::gen::element(WindowShape::sliding, WindowShape::chunked)};
  const auto sees = [&](std::int64_t query, std::int64_t key) {
    if (key > query) return false;
    if (window.tokens == 0) return true;
    return window.shape == WindowShape::sliding ? query - key < window.tokens : query / window.tokens == key / window.tokens;
  };
  const std::int64_t queries = std::min(block.queries, sequence), keys = std::min(block.keys, sequence);
  std::int64_t visited = 0, whole = 0;
  for (std::int64_t q = 0; q < sequence; q += queries)
    for (std::int64_t k = 0; k < sequence; k += keys) {
      bool any = false, all = k + keys <= sequence;
      for (std::int64_t i = q; i < std::min(q + queries, sequence); ++i)
        for (std::int64_t j = k; j < std::min(k + keys, sequence); ++j) (sees(i, j) ? any : all) = sees(i, j);
      visited += any ? 1 : 0;
      whole += any && all ? 1 : 0;
    }
  const BlockLoop loop = loop_of(SplashKernel::forward, sequence, window, block);
  RC_ASSERT(loop.visited == static_cast<double>(visited));
  RC_ASSERT(loop.masked == static_cast<double>(visited - whole));
}

// 8,192 keys in blocks of 2,048: four partial sums, in the type of queries; tokamax's of more in float32.
TEST(PartialGradients, AreOnesOfTheFusedKernelForEachBlockOfKeys) {
  TrainConfig config;
  config.sa_block_kv_dkv = 2048;
  EXPECT_EQ(partial_query_gradients(config, 8192).count, 0) << "two kernels sum what they make";
  config.sa_use_fused_bwd_kernel = true;
  EXPECT_EQ(partial_query_gradients(config, 8192).count, 4);
  EXPECT_EQ(partial_query_gradients(config, 1024).count, 1);
  EXPECT_FALSE(partial_query_gradients(config, 65536).in_float32);
  config.use_tokamax_splash = true;
  EXPECT_FALSE(partial_query_gradients(config, 8192).in_float32);
  EXPECT_EQ(partial_query_gradients(config, 65536).count, 32);
  EXPECT_TRUE(partial_query_gradients(config, 65536).in_float32);
  config.dq_reduction_steps = 3;
  EXPECT_EQ(partial_query_gradients(config, 65536).count, 3);
  EXPECT_FALSE(partial_query_gradients(config, 65536).in_float32);
  EXPECT_EQ(partial_query_gradients(config, 4096).count, 2) << "there are no three";
  config.dq_reduction_steps = 0;
  config.context_parallel_strategy = ContextStrategy::ulysses;
  EXPECT_EQ(partial_query_gradients(config, 65536).count, 3);
}

}  // namespace
}  // namespace shardplan
