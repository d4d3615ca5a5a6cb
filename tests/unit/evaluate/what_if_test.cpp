// What changing one thing is worth: each row is the run that is asked for so, and differs in nothing else.
#include <gmock/gmock.h>

#include <algorithm>
#include <limits>
#include <planner/evaluate/evaluate.hpp>
#include <planner/fixes/weigh_flags.hpp>
#include <planner/what_if/what_if.hpp>
#include <set>

#include "../reading.hpp"

namespace shardplan {
namespace {

/// llama3.1-8b on TPU v6e, under XLA's defaults; what is not said is 2 sequences of 8,192 tokens a device on fsdp=8.
std::string run_words(const std::string& more, const std::string& size = "v6e-8 ici_fsdp_parallelism=8",
                      const std::string& batch = "2 max_target_length=8192") {
  const bool says_flags = more.find("compile_xla_flags=") != std::string::npos;
  return "model_name=llama3.1-8b compile_topology=" + size + " per_device_batch_size=" + batch + " " + more +
         (says_flags ? "" : " compile_xla_flags=none");
}

std::vector<WhatIf> what_ifs(const std::string& words) {
  const Configuration configuration = read(words);
  Evaluation now = evaluate(configuration);
  now.flag_worths = weigh_flags(configuration, now);
  return what_ifs_of(configuration, now);
}

const WhatIf* find(const std::vector<WhatIf>& all, const std::string& change) {
  const auto found = std::find_if(all.begin(), all.end(), [&](const WhatIf& one) { return one.change == change; });
  return found == all.end() ? nullptr : &*found;
}

void expect_as_asked(const std::vector<WhatIf>& all, const std::string& change, const std::string& words) {
  const WhatIf* row = find(all, change);
  ASSERT_TRUE(row) << change;
  const Evaluation now = evaluate(read(run_words(""))), asked = evaluate(read(words));
  EXPECT_EQ(row->run.time.step(), asked.time.step()) << change;
  EXPECT_EQ(row->run.memory.peak(), asked.memory.peak()) << change;
  EXPECT_DOUBLE_EQ(row->faster, asked.tokens_per_second() / now.tokens_per_second() - 1) << change;
}

TEST(WhatIfs, AreRunsThatAreAskedForSo) {
  const auto all = what_ifs(run_words(""));
  const std::string eight = "v6e-8 ici_fsdp_parallelism=8", sixteen = "v6e-16 ici_fsdp_parallelism=16";
  expect_as_asked(all, "half the batch: 1 sequence a device", run_words("", eight, "1 max_target_length=8192"));
  expect_as_asked(all, "the same batch in 2 passes",
                  run_words("gradient_accumulation_steps=2", eight, "1 max_target_length=8192"));
  expect_as_asked(all, "sequences of 4096 tokens", run_words("", eight, "2 max_target_length=4096"));
  expect_as_asked(all, "fsdp=4,tensor=2", run_words("", "v6e-8 ici_fsdp_parallelism=4 ici_tensor_parallelism=2"));
  expect_as_asked(all, "first moment in bfloat16", run_words("mu_dtype=bfloat16"));
  expect_as_asked(all, "16 chips: fsdp=16", run_words("", sixteen));
  expect_as_asked(all, "16 chips: fsdp=16, the same tokens a step", run_words("", sixteen, "1 max_target_length=8192"));
  expect_as_asked(all, "with --xla_tpu_scoped_vmem_limit_kib=98304",
                  run_words("compile_xla_flags=--xla_tpu_scoped_vmem_limit_kib=98304"));
}

// 1536 columns of an expert are no whole tiles of 1024, nor 768 of each of two devices: a tile that follows the mesh does.
TEST(WhatIfs, TakeTheTilesOfTheirMeshes) {
  const auto words = [](const std::string& mesh) {
    return "model_name=qwen3-30b-a3b override_model_config=true base_moe_mlp_dim=1536 compile_topology=v5p-16 "
           "quantization=int8 per_device_batch_size=1 sparse_matmul=true megablox=true " + mesh;
  };
  const auto all = what_ifs(words("ici_fsdp_parallelism=8"));
  const WhatIf* split = find(all, "fsdp=4,tensor=2");
  ASSERT_TRUE(split);
  EXPECT_EQ(split->configuration->config.wi_tile_fwd_mlp_dim, 768);
  EXPECT_EQ(split->run.time.step(), evaluate(read(words("ici_fsdp_parallelism=4 ici_tensor_parallelism=2"))).time.step());
}

/// At 8,192 tokens blocks of 512 take longer; those that are best aren't offered again.
TEST(WhatIfs, HaveTheBestBlocksOfAttention) {
  const std::string change = "attention in blocks of 1024, gradients in one kernel";
  const std::string blocks = "sa_block_q=1024 sa_block_kv=1024 sa_block_kv_compute=1024 sa_block_q_dkv=1024 "
                             "sa_block_kv_dkv=1024 sa_block_kv_dkv_compute=1024 sa_block_q_dq=1024 sa_block_kv_dq=1024 "
                             "sa_use_fused_bwd_kernel=true";
  const auto all = what_ifs(run_words(""));
  expect_as_asked(all, change, run_words(blocks));
  EXPECT_GT(find(all, change)->faster, 0.01);
  const auto chosen = what_ifs(run_words(blocks));
  EXPECT_TRUE(std::none_of(chosen.begin(), chosen.end(), [](const WhatIf& one) { return one.kind == WhatIfKind::blocks; }));
}

/// Blocks of 2048 with their gradients in one kernel don't fit at 512k tokens; a smaller step does.
TEST(WhatIfs, HaveTheBestBlocksThatFitBesideTheFastest) {
  const auto all = what_ifs("model_name=llama3.1-8b compile_topology=tpu7x-32 "
                            "max_target_length=524288 per_device_batch_size=0.0625 "
                            "remat_policy=save_dot_with_context_except_mlp "
                            "ici_fsdp_parallelism=2 ici_context_parallelism=8 ici_tensor_parallelism=2");
  std::vector<const WhatIf*> blocks;
  for (const WhatIf& one : all)
    if (one.kind == WhatIfKind::blocks) blocks.push_back(&one);
  ASSERT_EQ(blocks.size(), 2U);
  EXPECT_GT(blocks[0]->faster, blocks[1]->faster);
  EXPECT_NE(blocks[0]->run.memory.fit(), Fit::fits);
  EXPECT_EQ(blocks[1]->run.memory.fit(), Fit::fits);
}

TEST(WhatIfs, OfPoliciesAreThoseThatNoOtherBeats) {
  const Evaluation now = evaluate(read(run_words("remat_policy=save_out_proj")));
  double faster = std::numeric_limits<double>::infinity();
  std::optional<Bytes> peak;
  for (const WhatIf& one : what_ifs(run_words("remat_policy=save_out_proj"))) {
    if (one.kind != WhatIfKind::remat) continue;
    EXPECT_NE(one.configuration->config.remat_policy, "save_out_proj");
    EXPECT_TRUE(one.faster > 0 || one.run.memory.peak() < now.memory.peak()) << one.change;
    EXPECT_LE(one.faster, faster) << one.change;
    EXPECT_TRUE(!peak || one.run.memory.peak() < *peak) << one.change << " is beaten in both";
    faster = one.faster;
    peak = one.run.memory.peak();
  }
  EXPECT_TRUE(peak);
}

// 16 sequences of 8,192 tokens a device are more than 32 GiB; what helps says so, what doesn't too.
TEST(WhatIfs, KeepWhatLacksMemoryAndLeaveOutWhatMaxtextRefuses) {
  const auto all = what_ifs(run_words("", "v6e-8 ici_fsdp_parallelism=8", "16 max_target_length=8192"));
  int too_large = 0;
  for (const WhatIf& one : all) {
    EXPECT_TRUE(!one.run.infeasible || one.run.infeasible->constraint == ConstraintId::hbm) << one.change;
    too_large += one.run.memory.fit() == Fit::does_not_fit;
  }
  EXPECT_GT(too_large, 0);
  EXPECT_FALSE(find(what_ifs(run_words("", "v6e-8 ici_fsdp_parallelism=8", "0.125 max_target_length=8192")),
                    "half the batch: 0.0625 sequences a device"))
      << "half a sequence in all";
}

// One sequence for each of 8 microbatches: of half of them, or on half the chips, some would have none.
TEST(WhatIfs, LeaveEveryMicrobatchASequence) {
  const auto all = what_ifs("model_name=llama2-7b compile_topology=v5p-16 ici_pipeline_parallelism=8 ici_fsdp_parallelism=1 "
                            "per_device_batch_size=1 compile_xla_flags=none");
  EXPECT_TRUE(find(all, "twice the batch: 2 sequences a device"));
  for (const WhatIf& one : all) EXPECT_GE(layer_batch(*one.configuration), 1) << one.change;
}

// Scores of 16 heads, whose keys are split over context, on 32 devices: refused by their number, as without context.
TEST(WhatIfs, OfFewerHeadsThanDevicesAreCounted) {
  const Configuration now =
      read("model_name=deepseek2-16b attention=dot_product megablox=false ici_tensor_parallelism=8 dcn_tensor_parallelism=4 "
           "dcn_context_parallelism=2 ici_fsdp_parallelism=1 dcn_data_parallelism=1",
           {"h100", 64, {}});
  const Evaluation refused = evaluate(now);
  ASSERT_TRUE(refused.infeasible);
  EXPECT_EQ(refused.infeasible->constraint, ConstraintId::indivisible_dim);
  for (const WhatIf& one : what_ifs_of(now, refused)) EXPECT_TRUE(runs_if_large_enough(one.run)) << one.change;
}

// 16 chips are 2 nodes: twice and half of them are more nodes and one, not parts of two.
TEST(WhatIfs, OfChipsAreWholeNodes) {
  const std::string line = "model_name=llama3-70b attention=cudnn_flash_te per_device_batch_size=2 ici_fsdp_parallelism=8 "
                           "dcn_fsdp_parallelism=2 dcn_data_parallelism=1";
  const Configuration now = read(line, {"h100", 16, {}});
  std::set<int> sizes;
  const int node = now.slice.chips;
  for (const WhatIf& one : what_ifs_of(now, evaluate(now))) {
    const Configuration& c = *one.configuration;
    EXPECT_EQ(c.mesh.devices(), static_cast<std::int64_t>(c.slice.devices) * c.num_slices) << one.change;
    EXPECT_EQ(c.mesh.slices(), c.num_slices) << one.change;
    EXPECT_EQ(c.slice.chips, node) << one.change << " is in whole nodes";
    const Configuration again = read(printed(c), {"h100", c.slice.chips * c.num_slices, {}});
    EXPECT_EQ(evaluate(again).time.step(), one.run.time.step()) << one.change << " by its own arguments";
    if (one.kind == WhatIfKind::chips) sizes.insert(c.slice.chips * c.num_slices);
  }
  EXPECT_EQ(sizes, (std::set<int>{8, 32}));
}

// Four nodes with four of their GPUs each: twice is more such nodes, a half fewer.
TEST(WhatIfs, OfChipsKeepHowFullNodesAre) {
  const std::string line = "model_name=qwen3-8b attention=cudnn_flash_te per_device_batch_size=2 ici_fsdp_parallelism=4 "
                           "dcn_fsdp_parallelism=4 dcn_data_parallelism=1";
  const Configuration now = read(line, {"h100", 16, 4});
  std::set<int> nodes;
  for (const WhatIf& one : what_ifs_of(now, evaluate(now))) {
    EXPECT_EQ(one.configuration->slice.chips, 4) << one.change;
    nodes.insert(one.configuration->num_slices);
  }
  EXPECT_EQ(nodes, (std::set<int>{2, 4, 8}));
}

// Half of a node: twice is the whole of it, not two halves over the network.
TEST(WhatIfs, OfPartOfANodeFillItFirst) {
  const std::string words = "model_name=qwen3-8b attention=cudnn_flash_te per_device_batch_size=2 ici_fsdp_parallelism=";
  const Configuration now = read(words + "4", {"h100", 4, {}});
  const auto all = what_ifs_of(now, evaluate(now));
  const WhatIf* twice = find(all, "8 chips: fsdp=8");
  ASSERT_TRUE(twice);
  EXPECT_EQ(twice->configuration->num_slices, 1);
  EXPECT_EQ(twice->run.time.step(), evaluate(read(words + "8", {"h100", 8, {}})).time.step());
}

TEST(WhatIfs, KindsHaveNames) {
  std::set<std::string_view> names;
  for (int i = 0; i <= static_cast<int>(last_what_if_kind); ++i) names.insert(name_of(static_cast<WhatIfKind>(i)));
  EXPECT_EQ(names.size(), static_cast<std::size_t>(last_what_if_kind) + 1);
}

}  // namespace
}  // namespace shardplan
