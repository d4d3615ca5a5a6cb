#include <gmock/gmock.h>

#include <tests/unit/timeline/toy_programs.hpp>

namespace shardplan {
namespace {

KernelWork work_of(const std::string& call, const std::vector<std::string>& operand_shapes) {
  std::string text, names;
  for (std::size_t i = 0; i < operand_shapes.size(); ++i) {
    text += fmt::format("  %o{} = {} iota(), iota_dimension=0\n", i, operand_shapes[i]);
    names += fmt::format("{}%o{}", i ? ", " : "", i);
  }
  const ScheduledProgram read = scheduled(scheduled_text(text + fmt::format(fmt::runtime(call), names)));
  return read.schedule.computations[read.program.entry].at(operand_shapes.size() + 1).work;
}

/// 2 sequences, 4 heads, 8 queries of 8 keys, half of them seen: 2·(2·4·8·4)·(16 + 16) flops; 2.5 times that backwards.
TEST(CustomKernels, CudnnAttention) {
  const std::vector<std::string> operands = {"bf16[2,8,4,16]", "bf16[2,8,2,16]", "bf16[2,8,2,16]"};
  const std::string config = "backend_config={{\"mask_type\": \"CAUSAL\", \"sliding_window_length\": 0}}\n";
  const KernelWork forward = work_of("  %k = (bf16[2,4,8,16]{{3,2,1,0}}, f32[2,4,8]{{2,1,0}}) custom-call({}), "
                                     "custom_call_target=\"__cudnn$fmhaSoftmax\", " + config, operands);
  EXPECT_EQ(forward.kind, KernelKind::attention);
  EXPECT_EQ(forward.attention.value, 2 * 2 * 4 * 8 * 4 * 32);
  EXPECT_EQ(work_of("  %k = (bf16[2,4,8,16]{{3,2,1,0}}) custom-call({}), "
                    "custom_call_target=\"__cudnn$fmhaSoftmaxBackward\", " + config, operands).attention.value,
            forward.attention.value * 2.5);
  EXPECT_EQ(work_of("  %k = (bf16[2,4,8,16]{{3,2,1,0}}) custom-call({}), custom_call_target=\"__cudnn$fmhaSoftmax\", "
                    "backend_config={{\"mask_type\": \"NO_MASK\"}}\n", operands).attention.value,
            forward.attention.value * 2);
}

/// The number of the mask is Transformer Engine's: 3 is causal with padding, 1 padding alone; -1 is no window.
TEST(CustomKernels, TransformerEngineAttention) {
  const std::vector<std::string> operands = {"bf16[2,8,4,16]", "bf16[2,8,2,16]", "bf16[2,8,2,16]"};
  const auto flops = [&](const std::string& target, const std::string& mask, const std::string& window) {
    return work_of("  %k = (bf16[2,8,4,16]{{3,2,1,0}}, f32[2,4,8,1]{{3,2,1,0}}) custom-call({}), custom_call_target=\"" +
                   target + "\", backend_config={{attn_heads = 4 : i64, mask_type = " + mask +
                   " : i64, window_size_left = " + window + " : i64}}\n", operands).attention.value;
  };
  const double causal = 2.0 * 2 * 4 * 8 * 4 * 32;
  EXPECT_EQ(flops("te_fused_attn_forward_ffi", "3", "-1"), causal);
  EXPECT_EQ(flops("te_fused_attn_forward_ffi", "1", "-1"), 2 * causal);
  EXPECT_EQ(flops("te_fused_attn_backward_ffi", "2", "-1"), 2.5 * causal);
  EXPECT_LT(flops("te_fused_attn_forward_ffi", "3", "2"), causal);
}

TEST(CustomKernels, RaggedDotsOfLibraries) {
  const std::string target = "custom_call_target=\"__cublas$lt$groupedMatmul\"\n";
  const auto product = work_of("  %k = bf16[64,32]{{1,0}} custom-call({}), " + target,
                               {"bf16[64,16]", "bf16[4,16,32]", "s32[4]"}).products.at(0);
  EXPECT_EQ(product.m * product.n * product.k, 64 * 32 * 16);
  EXPECT_EQ(product.groups, 4);
  EXPECT_FALSE(product.makes_weights);
  const auto gradient = work_of("  %k = bf16[4,16,32]{{2,1,0}} custom-call({}), " + target,
                                {"bf16[64,16]", "bf16[64,32]", "s32[4]"}).products.at(0);
  EXPECT_EQ(gradient.m * gradient.n * gradient.k, 64 * 32 * 16);
  EXPECT_TRUE(gradient.makes_weights);
}

/// 4 heads, 8 queries of 8 keys, width 24 for scores and 16 for values.
TEST(CustomKernels, SplashAttentionComputesWhatEachKernelDoes) {
  const auto flops = [](const std::string& name) {
    return work_of("  %" + name + " = bf16[4,8,16]{{2,1,0}} custom-call({}), custom_call_target=\"tpu_custom_call\", "
                   "operand_layout_constraints={{s8[1,8,8]{{2,1,0}}, bf16[4,8,24]{{2,1,0}}, bf16[4,8,24]{{2,1,0}}, "
                   "bf16[4,8,16]{{2,1,0}}}}\n", {"s8[1,8,8]", "bf16[4,8,24]", "bf16[4,8,24]", "bf16[4,8,16]"})
        .attention.value;
  };
  const double scores = 4 * 8 * 4;
  EXPECT_EQ(flops("splash_mha_fwd_residuals.3"), 2 * scores * (24 + 16));
  EXPECT_EQ(flops("splash_mha_dq_no_residuals.1"), 2 * scores * (24 + 16 + 24));
  EXPECT_EQ(flops("splash_mha_dkv_no_residuals"), 2 * scores * (24 + 16 + 24 + 16));
}

/// sa_q_layout=SEQ_MINOR and its like: 64 queries of 8 wide, as the result says.
TEST(CustomKernels, SplashAttentionsTokensMayLieLast) {
  const auto flops = [](const std::string& queries) {
    return work_of("  %splash_mha_fwd = bf16[4,64,8]{{2,1,0}} custom-call({}), custom_call_target=\"tpu_custom_call\", "
                   "operand_layout_constraints={{s8[1,8,8]{{2,1,0}}, " + queries + "{{2,1,0}}, " + queries +
                       "{{2,1,0}}, " + queries + "{{2,1,0}}}}\n", {"s8[1,8,8]", queries, queries, queries})
        .attention.value;
  };
  EXPECT_EQ(flops("bf16[4,8,64]"), flops("bf16[4,64,8]"));
  EXPECT_EQ(flops("bf16[4,8,64]"), 2 * (4 * 64 * 32) * (8 + 8));
}

/// Masks of 4 x 2 blocks: 4,096 queries in rows of 1,024, as many keys in columns of 2,048. Two results are the gradients of
/// keys and values, three are all of them.
TEST(CustomKernels, AMaskOfNoBlocksSaysNothing) {
  for (const std::string mask : {"s8[1,0,0]", "s8[1,3,1]", "s8[8]"})
    EXPECT_FALSE(work_of("  %splash_mha_fwd = bf16[4,8,16]{{2,1,0}} custom-call({}), "
                         "custom_call_target=\"tpu_custom_call\", operand_layout_constraints={{" + mask + "{{2,1,0}}, "
                         "bf16[4,8,24]{{2,1,0}}, bf16[4,8,24]{{2,1,0}}, bf16[4,8,16]{{2,1,0}}}}\n",
                         {mask, "bf16[4,8,24]", "bf16[4,8,24]", "bf16[4,8,16]"})
                     .loop)
        << mask;
}

TEST(CustomKernels, SplashAttentionsMaskSaysHowLargeBlocksAre) {
  const auto loop = [](const std::string& name, const std::string& result) {
    return work_of("  %" + name + " = " + result + " custom-call({}), custom_call_target=\"tpu_custom_call\", "
                   "operand_layout_constraints={{s8[1,4,2]{{2,1,0}}, bf16[3,8,4096,192]{{3,2,1,0}}, "
                   "bf16[3,2,4096,192]{{3,2,1,0}}, bf16[3,2,4096,128]{{3,2,1,0}}}}\n",
                   {"s8[1,4,2]", "bf16[3,8,4096,192]", "bf16[3,2,4096,192]", "bf16[3,2,4096,128]"})
        .loop.value();
  };
  const BlockLoop forward = loop("splash_mha_fwd_residuals.3", "bf16[3,8,4096,128]{{3,2,1,0}}");
  EXPECT_EQ(forward.kernel, SplashKernel::forward);
  EXPECT_EQ(forward.block.queries, 1024);
  EXPECT_EQ(forward.block.keys, 2048);
  EXPECT_EQ(forward.visited, 6);
  EXPECT_EQ(forward.heads, 3 * 8);
  EXPECT_EQ(forward.lanes, (256 + 128) / 2);
  const std::string gradient = "bf16[3,2,4096,192]{{3,2,1,0}}";
  EXPECT_EQ(loop("splash_mha_dkv_no_residuals", "(" + gradient + ", " + gradient + ")").kernel,
            SplashKernel::key_value_gradient);
  EXPECT_EQ(loop("splash_mha_dkv_no_residuals", "(" + gradient + ", " + gradient + ", " + gradient + ")").kernel,
            SplashKernel::fused_gradient);
}

/// 8 rows of 16 blocks of 64 keys, of which a row's grid has 3; what the mask cuts of blocks is the diagonal, or both edges.
TEST(CustomKernels, AGridOfSplashAttentionSaysHowFarBackQueriesSee) {
  const auto kernel = [](const std::string& grid, const std::string& cut) {
    return work_of("  %splash_mha_fwd_residuals.1 = bf16[4,512,128]{{2,1,0}} custom-call({}), "
                   "custom_call_target=\"tpu_custom_call\", operand_layout_constraints={{" + grid + "{{2,1,0}}, " + grid +
                       "{{2,1,0}}, bf16[4,512,128]{{2,1,0}}, bf16[4,1024,128]{{2,1,0}}, bf16[4,1024,128]{{2,1,0}}, " +
                       cut + "}}\n",
                   {grid, grid, "bf16[4,512,128]", "bf16[4,1024,128]", "bf16[4,1024,128]", cut});
  };
  const KernelWork sliding = kernel("s8[1,8,3]", "s32[2,64,64]{{2,1,0}}");
  EXPECT_EQ(sliding.window, (AttentionWindow{128, WindowShape::sliding}));
  EXPECT_EQ(sliding.loop->block.keys, 64);
  EXPECT_EQ(sliding.loop->visited, 1 + 2 + 14 * 3);
  EXPECT_EQ(sliding.attention.value, 2 * 4 * 512 * attended_keys(1024, {128}) * 256);
  const KernelWork chunked = kernel("s8[1,8,4]", "s32[1,64,64]{{2,1,0}}");
  EXPECT_EQ(chunked.window, (AttentionWindow{256, WindowShape::chunked}));
  EXPECT_EQ(chunked.loop->visited, 4 * (1 + 2 + 3 + 4));
  EXPECT_EQ(kernel("s8[1,8,16]", "s32[2,64,64]{{2,1,0}}").window, AttentionWindow{}) << "as far as all keys";
  EXPECT_FALSE(kernel("s8[1,8,16]", "s32[512,128]{{1,0}}").window) << "a function of positions";
  for (const char* wrong : {"s32[2,0,64]{{2,1,0}}", "s32[2,64,0]{{2,1,0}}", "s32[2,7,64]{{2,1,0}}"})
    EXPECT_FALSE(kernel("s8[1,8,3]", wrong).loop) << wrong;
}

/// The fused gradient's grid has all blocks, whatever the mask leaves.
TEST(CustomKernels, GradientsOfSplashAttentionTakeTheWindowOfItsForwardKernels) {
  const auto program = [](const std::vector<std::string>& grids) {
    const std::string tail = "custom_call_target=\"tpu_custom_call\", operand_layout_constraints={";
    const std::string array = "bf16[4,1024,128]{2,1,0}, ", arrays = array + array + array + "s32[2,64,64]{2,1,0}}\n";
    std::string text = "  %q = bf16[4,1024,128] iota(), iota_dimension=0\n";
    for (std::size_t i = 0; i < grids.size(); ++i)
      text += fmt::format("  %splash_mha_fwd_residuals.{} = bf16[4,1024,128]{{2,1,0}} custom-call(%q), ", i) + tail +
              grids[i] + "{2,1,0}, " + arrays;
    text += "  %splash_mha_dkv_no_residuals.1 = (bf16[16,4,1024,128]{3,2,1,0}, bf16[4,1024,128]{2,1,0}, "
            "bf16[4,1024,128]{2,1,0}) custom-call(%q), " + tail + "s8[1,16,16]{2,1,0}, " + arrays;
    const ScheduledProgram read = scheduled(scheduled_text(text));
    for (const HloStep& step : read.schedule.computations[read.program.entry])
      if (step.work.loop && step.work.loop->kernel == SplashKernel::fused_gradient) return step.work;
    return KernelWork{};
  };
  const KernelWork gradient = program({"s8[1,16,3]", "s8[1,16,3]"});
  EXPECT_EQ(gradient.loop->visited, 1 + 2 + 14 * 3);
  EXPECT_EQ(gradient.loop->steps, 16 * 16);
  EXPECT_EQ(gradient.loop->heads, 4);
  EXPECT_EQ(gradient.attention.value, 2 * 4 * 1024 * attended_keys(1024, {128}) * 512);
  for (const auto& grids : {std::vector<std::string>{"s8[1,16,3]", "s8[1,16,5]"}, {"s8[1,16,16]"}, {}})
    EXPECT_EQ(program(grids).loop->visited, 16 * 17 / 2) << grids.size();
}

const std::string gmm = "  %gmm.1 = bf16[64,32]{{1,0}} custom-call({}), custom_call_target=\"tpu_custom_call\"\n";

TEST(CustomKernels, GroupedProducts) {
  const KernelWork work = work_of(gmm, {"s32[]", "s32[5]", "s32[9]", "s32[9]", "s32[1]", "bf16[64,16]", "bf16[4,16,32]"});
  EXPECT_EQ(work.kind, KernelKind::grouped_product);
  ASSERT_EQ(work.products.size(), 1U);
  EXPECT_EQ(work.products[0].m, 64);
  EXPECT_EQ(work.products[0].n, 32);
  EXPECT_EQ(work.products[0].k, 16);
  EXPECT_EQ(work.products[0].groups, 4);
}

/// Pallas writes what the kernel was called with as metadata, on lines of its own.
TEST(CustomKernels, GroupedProductsSayTheirTiles) {
  const std::string tgmm =
      "  %tgmm = bf16[4,16,32]{{2,1,0}} custom-call({}), custom_call_target=\"tpu_custom_call\", kernel_metadata={{{{\n"
      "\"xprof_metadata\":\"{{\\\"tiling\\\": {{\\\"tile_m\\\": 512, \\\"tile_k\\\": 1024, "
      "\\\"tile_n\\\": 256}}}}\"\n}}}}\n";
  std::vector<std::string> operands = {"s32[]", "s32[5]", "s32[9]", "s32[9]", "s32[1]", "bf16[64,16]", "bf16[64,32]"};
  const KernelWork work = work_of(tgmm, operands);
  EXPECT_EQ(work.products.at(0).tile, (GroupedTile{512, 1024, 256}));
  EXPECT_TRUE(work.products[0].makes_weights);
  operands.back() = "bf16[4,16,32]";
  EXPECT_EQ(work_of(gmm, operands).products.at(0).tile, GroupedTile{}) << "not said";
}

/// In a ring of experts: all rows of 16 groups, of which this device has 4.
TEST(CustomKernels, RowsOfOtherDevicesGroupsAreNotComputed) {
  const KernelWork work =
      work_of(gmm, {"s32[]", "s32[17]", "s32[9]", "s32[9]", "s32[1]", "bf16[64,16]", "bf16[4,16,32]"});
  EXPECT_EQ(work.products.at(0).m, 16);
}

TEST(CustomKernels, TheGradientOfAGroupedProductsWeights) {
  const KernelWork work = work_of(
      "  %tgmm = bf16[4,16,32]{{2,1,0}} custom-call({}), custom_call_target=\"tpu_custom_call\"\n",
      {"s32[]", "s32[5]", "s32[9]", "s32[9]", "s32[1]", "bf16[64,16]", "bf16[64,32]"});
  EXPECT_EQ(work.products.at(0).m * work.products[0].n * work.products[0].k, 64 * 32 * 16);
}

TEST(CustomKernels, AnUnknownOneIsItsTraffic) {
  const KernelWork work = work_of("  %k = f32[8]{{0}} custom-call({}), custom_call_target=\"mystery\"\n", {"f32[4]"});
  EXPECT_FALSE(work.known);
  EXPECT_EQ(work.traffic.value, 16 + 32);
}

TEST(CustomKernels, AllocationsTakeNoTime) {
  const ScheduledProgram read = scheduled(
      scheduled_text("  %k = f32[8]{0} custom-call(), custom_call_target=\"AllocateBuffer\"\n"));
  EXPECT_EQ(read.schedule.computations[read.program.entry].at(1).kind, HloStepKind::nothing);
}

}  // namespace
}  // namespace shardplan
