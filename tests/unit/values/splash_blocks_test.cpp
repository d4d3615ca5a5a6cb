#include <gmock/gmock.h>

#include <shardplan/attention/splash_blocks.hpp>

namespace shardplan {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

Compiler tpu_compiler(std::int64_t mebibytes) {
  Compiler compiler;
  compiler.kernels.has_tokamax_splash = true;
  compiler.settings[CompilerSetting::scoped_vmem_limit] = Bytes{mebibytes << 20};
  return compiler;
}

TEST(SplashBlocks, OfTwoThousandNeedVmem) {
  const Model model;
  TrainConfig config;
  config.attention = AttentionKernel::flash;
  const std::vector<SplashBlocks> small = {{512, false}, {512, true}, {1024, false}, {1024, true}};
  EXPECT_EQ(splash_blocks_of(config, tpu_compiler(16), model), small);
  EXPECT_EQ(splash_blocks_of(config, tpu_compiler(64), model).back(), (SplashBlocks{2048, true}));
}

TEST(SplashBlocks, OfTokamaxHaveNoSecondKernel) {
  TrainConfig config;
  config.attention = AttentionKernel::flash;
  config.use_tokamax_splash = true;
  EXPECT_THAT(splash_blocks_of(config, tpu_compiler(16), Model{}),
              ElementsAre(SplashBlocks{512, false}, SplashBlocks{1024, false}));
}

TEST(SplashBlocks, AreOfNoOtherAttention) {
  TrainConfig config;
  config.attention = AttentionKernel::dot_product;
  EXPECT_THAT(splash_blocks_of(config, tpu_compiler(64), Model{}), IsEmpty());
  config.attention = AttentionKernel::flash;
  EXPECT_THAT(splash_blocks_of(config, Compiler{}, Model{}), IsEmpty());
  Model indexed;
  indexed.use_indexer = true;
  EXPECT_THAT(splash_blocks_of(config, tpu_compiler(64), indexed), IsEmpty());
  config.dtype = DType::f32;
  EXPECT_THAT(splash_blocks_of(config, tpu_compiler(64), Model{}), IsEmpty());
}

// Blocks of the second kernel are not read where one makes all gradients.
TEST(SplashBlocks, LeaveWhatNoKernelReads) {
  const TrainConfig two = with_splash_blocks({}, {2048, false}), one = with_splash_blocks(two, {1024, true});
  EXPECT_EQ(two.sa_block_kv_dq, 2048);
  EXPECT_EQ(one.sa_block_kv_dkv, 1024);
  EXPECT_EQ(one.sa_block_kv_dq, 512);
  EXPECT_FALSE(has_default_splash_blocks(one));
  EXPECT_TRUE(has_default_splash_blocks(with_splash_blocks(one, default_splash_blocks)));
}

}  // namespace
}  // namespace shardplan
