// Settings of published recipes that change what is gathered, with bytes that can be checked in the head.
#include <gmock/gmock.h>

#include <algorithm>
#include <map>
#include <planner/evaluate/evaluate.hpp>

#include "../reading.hpp"

namespace shardplan {
namespace {

using testing::Contains;
using testing::Key;
using testing::Not;
using testing::Pair;

constexpr std::int64_t mib = 1 << 20;

/// Executions of the forward all-gathers over `axes`, by the bytes that one leaves on a device.
std::map<std::int64_t, std::int64_t> gathers(const std::string& line, const std::vector<std::string>& axes) {
  const Configuration configuration = read(line + " per_device_batch_size=1 max_target_length=2048");
  std::map<std::int64_t, std::int64_t> found;
  for (const auto& c : evaluate(configuration).collectives)
    if (c.kind == CollectiveKind::all_gather && c.phase == Phase::forward && names_of(c.axes, configuration.mesh) == axes)
      found[c.bytes.value] += c.executions;
  return found;
}

std::int64_t total(const Evaluation& evaluation) {
  std::int64_t bytes = 0;
  for (const auto& c : evaluation.collectives) bytes += c.bytes.value * c.executions;
  return bytes;
}

const std::string llama = "model_name=llama2-7b compile_topology=v5p-16 ";
const std::string mixtral = "model_name=mixtral-8x7b compile_topology=v5p-16 ";

// 32 layers of wi_0, wi_1 and wo: 4096·11008 in bf16 are 86 MiB. Split over fsdp=4 and fsdp_transpose=2 they are whole
// over fsdp_transpose at 21.5 MiB, then everywhere; in one stage both axes are gathered at once.
TEST(RecipeSettings, DenseWeightsAreGatheredInTwoStages) {
  const std::string mesh = llama + "ici_fsdp_parallelism=4 ici_fsdp_transpose_parallelism=2 ";
  const std::string staged = mesh + "dense_fsdp_use_two_stage_all_gather=True";
  EXPECT_THAT(gathers(staged, {"fsdp_transpose"}), Contains(Pair(43 * mib / 2, 96)));
  EXPECT_THAT(gathers(staged, {"fsdp"}), Contains(Pair(86 * mib, 96)));
  EXPECT_THAT(gathers(staged, {"fsdp", "fsdp_transpose"}), Not(Contains(Key(86 * mib))));
  EXPECT_THAT(gathers(mesh, {"fsdp", "fsdp_transpose"}), Contains(Pair(86 * mib, 96)));
}

TEST(RecipeSettings, TwoStagesNeedTwoAxes) {
  const std::string mesh = llama + "ici_fsdp_parallelism=8 ";
  EXPECT_EQ(gathers(mesh + "dense_fsdp_use_two_stage_all_gather=True", {"fsdp"}), gathers(mesh, {"fsdp"}));
}

// One matrix of 4096 x (32 + 2·32 heads) x 128 in place of three of 32 MiB.
TEST(RecipeSettings, FusedProjectionsAreGatheredAtOnce) {
  const std::string mesh = llama + "ici_fsdp_parallelism=8 ";
  EXPECT_THAT(gathers(mesh + "fused_qkv=True", {"fsdp"}), Contains(Pair(96 * mib, 32)));
  EXPECT_THAT(gathers(mesh, {"fsdp"}), Not(Contains(Key(96 * mib))));
}

// A device cuts its own heads of queries, keys and values out of what it projects: the input is gathered for that, and
// nothing else moves than with three projections (llama27bx6_v5p16_tensor8_minimal_with_context).
TEST(RecipeSettings, FusedProjectionsAreCutFromADevicesOwnHeads) {
  const std::string mesh = llama + "ici_fsdp_parallelism=1 ici_tensor_parallelism=8 ";
  EXPECT_EQ(gathers(mesh + "fused_qkv=True", {"tensor"}), gathers(mesh, {"tensor"}));
  EXPECT_EQ(total(evaluate(read(mesh + "fused_qkv=True"))), total(evaluate(read(mesh))));
}

// wi of 4096 x 2 x 11008 in place of wi_0 and wi_1 of 86 MiB each.
TEST(RecipeSettings, AFusedMlpIsGatheredAtOnce) {
  const std::string mesh = llama + "ici_fsdp_parallelism=8 ";
  EXPECT_THAT(gathers(mesh + "fused_mlp=True", {"fsdp"}), Contains(Pair(172 * mib, 32)));
  EXPECT_EQ(total(evaluate(read(mesh + "fused_mlp=True"))), total(evaluate(read(mesh))));
}

// The router is 4096 x 8: float32 weights of products are gathered in bf16 (dscustom_v5p8_fsdp8: 2048 x 8 of an indexer).
TEST(RecipeSettings, AFloat32RouterIsGatheredInBf16) {
  const std::string mesh = mixtral + "ici_fsdp_parallelism=8 ";
  EXPECT_THAT(gathers(mesh, {"fsdp"}), Contains(Key(4096 * 8 * 2)));
  EXPECT_EQ(gathers(mesh + "float32_gate_logits=True", {"fsdp"}), gathers(mesh, {"fsdp"}));
}

// Eight experts of 4096·14336 in bf16 are 896 MiB, however they are stored; 16 devices don't divide eight experts.
TEST(RecipeSettings, ExpertsStoredOverFsdpAreGatheredWhole) {
  const std::string by_experts = "shard_exp_on_fsdp=True";
  EXPECT_THAT(gathers(mixtral + "ici_fsdp_parallelism=8 " + by_experts, {"fsdp"}), Contains(Pair(896 * mib, 96)));
  const auto refused =
      evaluate(read("model_name=mixtral-8x7b compile_topology=v5p-32 ici_fsdp_parallelism=16 " + by_experts)).infeasible;
  ASSERT_TRUE(refused);
  EXPECT_EQ(refused->constraint, ConstraintId::indivisible_dim);
}

// Routing at random is routing in balance, which is what is counted anyway; tokamax multiplies the same operands.
TEST(RecipeSettings, ThatMoveNothing) {
  const std::string mesh = mixtral + "ici_fsdp_parallelism=2 ici_expert_parallelism=4 ";
  const std::int64_t plain = total(evaluate(read(mesh)));
  EXPECT_EQ(total(evaluate(read(mesh + "use_random_routing=True"))), plain);
  EXPECT_EQ(total(evaluate(read(mesh + "use_tokamax_gmm=True megablox=False"))), plain);
  for (const char* same : {"dropout_rate=0.1 enable_dropout=true", "remat_policy=none"})
    EXPECT_EQ(total(evaluate(read(mesh + same))), plain) << same;
}

/// What is said of a step that is too fast to be true.
std::string mfu_caveat(const std::string& settings) {
  const Evaluation e = evaluate(read("model_name=llama3.1-405b compile_topology=tpu7x-128 ici_fsdp_parallelism=128 "
                                     "per_device_batch_size=8 max_target_length=2048 remat_policy=minimal_with_context " +
                                     settings));
  for (const auto& finding : e.findings)
    if (finding.id == FindingId::mfu_beyond_published) return finding.message;
  return "";
}

// Float8 products have twice the peak: the utilization that is published for bf16 runs is held against that.
TEST(RecipeSettings, AQuantizedRunsUtilizationIsHeldToThePeakOfItsType) {
  EXPECT_THAT(mfu_caveat("quantization=fp8_full use_qwix_quantization=True "
                         "compile_xla_flags=recipe"),
              testing::AllOf(testing::HasSubstr("of the peak of float8"), testing::HasSubstr("expect a slower step")));
  EXPECT_THAT(mfu_caveat(""), Not(testing::HasSubstr("of the peak of")));
}

/// Mixtral on 8 MI355X with the expert axis stolen, as AMD published it.
Evaluation stolen_on_amd(const std::string& flags) {
  std::vector<std::string> words = {"model_name=mixtral-8x7b", "per_device_batch_size=11", "max_target_length=4096",
                                    "ici_expert_parallelism=8", "ici_fsdp_parallelism=1", "remat_policy=minimal",
                                    "attention=cudnn_flash_te", "sparse_matmul=False", "capacity_factor=1",
                                    "weight_dtype=bfloat16", "max_segments_per_seq=32"};
  if (!flags.empty()) words.push_back("compile_xla_flags=" + flags);
  MachineChoice machine;
  machine.hardware = "mi355x";
  machine.chips = 8;
  return evaluate(read_configuration(words, machine, std::nullopt));
}

bool has_finding(const Evaluation& e, FindingId id) {
  return std::any_of(e.findings.begin(), e.findings.end(), [&](const Finding& finding) { return finding.id == id; });
}

TEST(RecipeSettings, CombineThresholdsExposeWhatWouldHide) {
  const Evaluation combined = stolen_on_amd("--xla_gpu_all_gather_combine_threshold_bytes=8589934592 "
                                            "--xla_gpu_reduce_scatter_combine_threshold_bytes=8589934592");
  const Evaluation plain = stolen_on_amd("");
  EXPECT_GT(combined.time.step().value, 1.1 * plain.time.step().value);
  EXPECT_TRUE(has_finding(combined, FindingId::combined_weights_exposed));
  EXPECT_FALSE(has_finding(plain, FindingId::combined_weights_exposed));
}

// 80 GB of a device on its host, beside what it holds itself; of four layers a twentieth.
TEST(RecipeSettings, HostValuesCountAgainstTheBudgetOfGpus) {
  const auto evaluated = [](const char* policy, const char* layers) {
    const std::vector<std::string> words{"model_name=llama2-7b", "ici_fsdp_parallelism=8", "per_device_batch_size=8",
                                         "max_target_length=4096", "attention=cudnn_flash_te", "override_model_config=true",
                                         std::string("remat_policy=") + policy,
                                         std::string("base_num_decoder_layers=") + layers};
    MachineChoice machine;
    machine.hardware = "h100";
    machine.chips = 8;
    return evaluate(read_configuration(words, machine, std::nullopt));
  };
  EXPECT_TRUE(has_finding(evaluated("minimal_offloaded", "32"), FindingId::host_values_counted));
  EXPECT_FALSE(has_finding(evaluated("minimal_offloaded", "1"), FindingId::host_values_counted));
  EXPECT_FALSE(has_finding(evaluated("full", "32"), FindingId::host_values_counted));
}

Evaluation on_v5p(const std::string& flags) {
  const std::vector<std::string> words{"model_name=llama2-7b", "compile_topology=v5p-16", "per_device_batch_size=1",
                                       "compile_xla_flags=" + flags};
  return evaluate(read_configuration(words, MachineChoice{}, std::nullopt));
}

TEST(RecipeSettings, CollectiveMatmulIsSaidWhereItIsOn) {
  const Evaluation rings = on_v5p("--xla_tpu_scoped_vmem_limit_kib=98304");
  const Evaluation whole = on_v5p("--xla_tpu_scoped_vmem_limit_kib=98304 "
                                  "--xla_jf_spmd_threshold_for_windowed_einsum_mib=1000000");
  EXPECT_TRUE(has_finding(rings, FindingId::collective_matmul));
  EXPECT_FALSE(has_finding(whole, FindingId::collective_matmul));
  const auto said = std::find_if(rings.findings.begin(), rings.findings.end(),
                                 [](const Finding& f) { return f.id == FindingId::collective_matmul; });
  EXPECT_EQ(said->fix, "--xla_jf_spmd_threshold_for_windowed_einsum_mib=1000000 among the flags");
  EXPECT_EQ(rings.memory.peak(), whole.memory.peak());
  EXPECT_EQ(rings.time.step(), whole.time.step());
}

Evaluation on_a_ring(int length) {
  return evaluate(read("model_name=llama3.1-8b compile_topology=v5p-16 ici_fsdp_parallelism=2 ici_context_parallelism=4 "
                       "per_device_batch_size=0.25 context_parallel_strategy=ring packing=false attention=flash "
                       "use_tokamax_splash=true max_target_length=" + std::to_string(length)));
}

// Part by part while the one before is multiplied: what moves grows with the sequence, what is computed with its square.
TEST(RecipeSettings, ARingHidesBehindLongSequences) {
  const auto exposed_share = [](int length) {
    Seconds seconds{}, exposed{};
    for (const auto& c : on_a_ring(length).collectives)
      if (c.cause == Cause::attention_ring) seconds += c.seconds, exposed += c.exposed;
    return exposed / seconds;
  };
  EXPECT_LT(exposed_share(65536), 0.01);
  EXPECT_GT(exposed_share(2048), exposed_share(65536));
}

TEST(RecipeSettings, PartialSumsAreThreeOrOneForEachBlock) {
  const auto refused = [](const std::string& words) {
    return evaluate(read("model_name=llama3.1-8b compile_topology=v5p-16 " + words)).infeasible;
  };
  for (const char* steps : {"-1", "0", "3"})
    EXPECT_FALSE(refused("use_tokamax_splash=true dq_reduction_steps=" + std::string(steps))) << steps;
  for (const char* steps : {"2", "4"}) {
    const auto broken = refused("use_tokamax_splash=true dq_reduction_steps=" + std::string(steps));
    ASSERT_TRUE(broken) << steps;
    EXPECT_EQ(broken->constraint, ConstraintId::attention_kernel);
    EXPECT_THAT(broken->message, testing::HasSubstr(std::string(steps) + " must be 0 or 3 where tokamax's kernel runs"));
    EXPECT_FALSE(refused("dq_reduction_steps=" + std::string(steps))) << "jax's kernel reads no such key";
    EXPECT_FALSE(refused("use_tokamax_splash=true attention=dot_product dq_reduction_steps=" + std::string(steps)));
  }
}

// The last of 4 runs of the queries has 7/8 of the keys before it, the average half.
TEST(RecipeSettings, UnbalancedSequencesWaitForTheDeviceWithTheMostKeys) {
  const auto attention = [](const std::string& more) {
    return evaluate(read("model_name=llama3.1-8b compile_topology=v5p-16 ici_fsdp_parallelism=2 ici_context_parallelism=4 "
                         "per_device_batch_size=0.25 max_target_length=65536 " + more)).time.parts.attention.value;
  };
  EXPECT_NEAR(attention("context_parallel_load_balance=false") / attention(""), 1.75, 0.01);
  const std::string ulysses = "packing=false attention=flash use_tokamax_splash=true context_parallel_load_balance=false "
                              "context_parallel_strategy=";
  EXPECT_LT(attention(ulysses + "ulysses"), 0.65 * attention(ulysses + "ring")) << "whole sequences of a part of the heads";
}

// 1.6 GB of float32 a device: in before the forward pass, out behind the update.
TEST(RecipeSettings, OffloadedParametersComeBackBeforeTheStep) {
  const auto run = [](const std::string& more) {
    return evaluate(read(llama + "ici_fsdp_parallelism=8 param_scan_axis=0 " + more));
  };
  const Evaluation here = run(""), there = run("parameter_memory_host_offload=true");
  EXPECT_EQ(there.memory.peak(), here.memory.peak());
  EXPECT_EQ(total(there), total(here));
  EXPECT_GT(there.time.exposed_host.value, 0);
  EXPECT_EQ(here.time.exposed_host.value, 0);
}

// Heads of later tokens read the model's head, which makes no table of it: that of an untied model is turned all the same.
TEST(RecipeSettings, TablesAreTurnedBesideHeadsOfLaterTokens) {
  const auto in_front = [](const std::string& more) {
    const Evaluation e = evaluate(read("model_name=gpt-oss-20b base_num_decoder_layers=4 override_model_config=True "
                                       "compile_topology=v5p-16 ici_fsdp_parallelism=8 per_device_batch_size=1 " + more));
    Bytes total;
    for (const HeldBuffer& held : e.held)
      if (held.name == "weights gathered or copied in front of the loops") total += held.total();
    return total;
  };
  EXPECT_GT(in_front("").value, 0);
  EXPECT_GE(in_front("mtp_num_layers=1"), in_front(""));
}

}  // namespace
}  // namespace shardplan
