// Which fixes are offered: those that MaxText would run, that fit, and that pay.
#include <gmock/gmock.h>

#include <planner/evaluate/evaluate.hpp>
#include <planner/evaluate/flagged_memory.hpp>
#include <planner/fixes/remedies.hpp>
#include <planner/fixes/weigh_findings.hpp>

#include "../reading.hpp"

namespace shardplan {
namespace {

using testing::HasSubstr;

std::optional<Finding> weighed(FindingId id, const std::string& run, const MachineChoice& machine = {}) {
  const Configuration configuration = read(run, machine);
  for (const Finding& finding : weigh_findings(configuration, evaluate(configuration)).findings)
    if (finding.id == id) return finding;
  return std::nullopt;
}

std::vector<std::string> fixes_of_dense_products(const std::string& run) {
  std::vector<std::string> words;
  Finding dense;
  dense.id = FindingId::dense_ragged_dot;
  for (const Fix& fix : fixes_of(dense, read(run + " hardware=gpu per_device_batch_size=1 megablox=false",
                                             {"h100", 8, std::nullopt})))
    words.push_back(fix.words);
  return words;
}

// gpt-oss has no dropping path: MaxText's decoder takes no capacity_factor.
TEST(Fixes, TakeNoPathThatTheDecoderLacks) {
  const auto drops = testing::Contains(HasSubstr("sparse_matmul=False"));
  EXPECT_THAT(fixes_of_dense_products("model_name=mixtral-8x7b attention=cudnn_flash_te packing=false"), drops);
  EXPECT_THAT(fixes_of_dense_products("model_name=gpt-oss-20b attention=dot_product"), testing::Not(drops));
  EXPECT_THAT(fixes_of_dense_products("model_name=gpt-oss-20b attention=dot_product"), testing::SizeIs(1));
}

// A whole optimizer that lies in host memory is copied by every replica: three seconds for half a second of collectives.
TEST(WeighFindings, CountWhatAFixCopiesToTheHost) {
  const auto found = weighed(FindingId::optimizer_shards_permuted,
                             "model_name=llama3.1-8b ici_data_parallelism=4 ici_fsdp_parallelism=4 per_device_batch_size=2 "
                             "shard_optimizer_over_data=true optimizer_memory_host_offload=true",
                             {"tpu-v5p", 16, std::nullopt});
  ASSERT_TRUE(found);
  ASSERT_TRUE(found->cost);
  EXPECT_GT(found->cost->collectives.value, 0);
  EXPECT_LT(found->cost->host.value, 0);
  EXPECT_THAT(found->fix, testing::IsEmpty());
}

// With whole moments it needs 136 GiB, of 94.7: 8% of the step are no reason not to start.
TEST(WeighFindings, KeepWhatFitsFitting) {
  const auto found = weighed(FindingId::optimizer_shards_permuted,
                             "model_name=deepseek2-16b ici_data_parallelism=8 ici_fsdp_parallelism=2 "
                             "per_device_batch_size=1 max_target_length=2048 shard_optimizer_over_data=true "
                             "remat_policy=minimal_with_context",
                             {"tpu-7x", 8, std::nullopt});
  ASSERT_TRUE(found);
  EXPECT_FALSE(found->cost);
}

TEST(Fixes, OfTheSparsePathNameTheKernelThatGpusLack) {
  Finding stolen;
  stolen.id = FindingId::expert_axis_stolen;
  const std::string run = "model_name=mixtral-8x7b sparse_matmul=false capacity_factor=1.25 per_device_batch_size=1 ";
  const auto words = [&](const Configuration& configuration) {
    std::vector<std::string> all;
    for (const Fix& fix : fixes_of(stolen, configuration)) all.push_back(fix.words);
    return all;
  };
  EXPECT_THAT(words(read(run + "hardware=gpu attention=cudnn_flash_te packing=false ici_expert_parallelism=8 "
                               "ici_fsdp_parallelism=1",
                         {"h100", 8, std::nullopt})),
              testing::Contains("sparse_matmul=True megablox=False"));
  EXPECT_THAT(words(read(run + "compile_topology=v5p-16")), testing::Contains("sparse_matmul=True"));
}

// The whole list: what is not in it, MaxText's custom policy computes again.
TEST(WeighFindings, SpellOutTheRematPolicyThatSavesWi1) {
  const std::string run = "model_name=deepseek2-16b compile_topology=v5p-16 ici_fsdp_parallelism=8 ";
  const std::string minimal = run + "remat_policy=minimal ";
  const auto small = weighed(FindingId::minimal_recomputes_wi_1, minimal + "per_device_batch_size=2");
  ASSERT_TRUE(small);
  for (const char* word : {"remat_policy=custom", "decoder_layer_input=remat", "mlpwi_0=device", "moe_mlpwi_1=device",
                           "query_proj=device", "out_proj=device"})
    EXPECT_THAT(small->fix, HasSubstr(word));
  EXPECT_LT(evaluate(read(run + "per_device_batch_size=2 " + small->fix)).time.step(),
            evaluate(read(minimal + "per_device_batch_size=2")).time.step());
  EXPECT_FALSE(weighed(FindingId::minimal_recomputes_wi_1, minimal + "per_device_batch_size=12")) << "no room for it";
}

// What is smaller than the parts that it is cut in is refused like all that doesn't divide.
TEST(Evaluate, RefusesDimsSmallerThanTheirParts) {
  const std::string parts = " per_device_batch_size=1 override_model_config=true ici_fsdp_parallelism=1 ";
  EXPECT_TRUE(evaluate(read("model_name=llama3-8b compile_topology=v5p-16 ici_tensor_parallelism=8 vocab_size=4" + parts))
                  .infeasible);
  EXPECT_TRUE(evaluate(read("model_name=mixtral-8x7b compile_topology=v5p-128 ici_tensor_parallelism=64 base_emb_dim=32 "
                            "sparse_matmul=True" + parts))
                  .infeasible);
}

/// MaxText layers/attention_op.py: only apply_attention_dot and splash attention are given attn_logits_soft_cap, and
/// Transformer Engine sets a window where it slides; of documents that aren't packed it gets a mask, which has chunks.
TEST(WeighFindings, SayWhatOfAModelAKernelOnGpusIsNotGiven) {
  const MachineChoice h100{"h100", 8, std::nullopt};
  const std::string gemma = "model_name=gemma2-9b per_device_batch_size=1 ici_fsdp_parallelism=8 attention=";
  const auto uncapped = weighed(FindingId::attention_ignores_cap, gemma + "cudnn_flash_te", h100);
  ASSERT_TRUE(uncapped);
  EXPECT_EQ(uncapped->fix, "attention=dot_product");
  EXPECT_FALSE(weighed(FindingId::attention_ignores_cap, gemma + "dot_product", h100));
  EXPECT_FALSE(weighed(FindingId::attention_ignores_cap, "model_name=gemma2-9b compile_topology=v5p-16"));
  EXPECT_FALSE(weighed(FindingId::attention_ignores_cap,
                       "model_name=llama3.1-8b ici_fsdp_parallelism=8 attention=cudnn_flash_te", h100));

  const std::string llama4 = "model_name=llama4-17b-16e base_num_decoder_layers=4 override_model_config=true "
                             "per_device_batch_size=1 max_target_length=32768 attention=cudnn_flash_te packing=";
  EXPECT_TRUE(weighed(FindingId::attention_ignores_windows, llama4 + "true", h100));
  EXPECT_FALSE(weighed(FindingId::attention_ignores_windows, llama4 + "false", h100));
  const auto seconds = [&](const std::string& packing) {
    return evaluate(read(llama4 + packing, h100)).time.parts.attention.value;
  };
  EXPECT_GT(seconds("true"), 1.5 * seconds("false")) << "three of four layers have chunks of 8192";
}

// The run is sparse already: a path back from the ring is another word.
TEST(WeighFindings, LeaveARingByItsOwnWord) {
  const auto found = weighed(FindingId::collectives_take_most,
                             "model_name=llama4-17b-16e compile_topology=v6e-64 ici_fsdp_parallelism=8 "
                             "ici_expert_parallelism=8 per_device_batch_size=1 max_target_length=1024 "
                             "use_ring_of_experts=true");
  ASSERT_TRUE(found);
  EXPECT_EQ(found->fix, "use_ring_of_experts=False");
}

/// Heads of 256: MaxText gives the kernel a causal mask alone, which takes as long as a model without windows.
TEST(WeighFindings, SayThatAKernelIgnoresWindows) {
  const auto run = [](const std::string& attention) {
    return "model_name=gemma3-4b max_target_length=8192 per_device_batch_size=1 ici_fsdp_parallelism=8 attention=" +
           attention;
  };
  const MachineChoice h100{"h100", 8, std::nullopt};
  const auto seconds = [&](const std::string& attention) {
    return evaluate(read(run(attention), h100)).time.parts.attention.value;
  };
  const auto found = weighed(FindingId::attention_ignores_windows, run("cudnn_flash_jax"), h100);
  ASSERT_TRUE(found);
  EXPECT_THAT(found->message, HasSubstr("layers that should attend to 1024 tokens attend to all of 8192"));
  EXPECT_EQ(found->fix, "attention=cudnn_flash_te");
  EXPECT_FALSE(weighed(FindingId::attention_ignores_windows, run("cudnn_flash_te"), h100));
  EXPECT_GT(seconds("cudnn_flash_jax"), 1.5 * seconds("cudnn_flash_te"));
  EXPECT_FALSE(weighed(FindingId::attention_ignores_windows, "model_name=gemma3-4b max_target_length=1024 "
                       "per_device_batch_size=1 ici_fsdp_parallelism=8 attention=cudnn_flash_jax", h100))
      << "no longer than a window";
}

/// Of 64 devices' tokens, 16.8 million choices: seconds in a step of less than one.
TEST(WeighFindings, SayThatAllTokensAreRouted) {
  const std::string run = "model_name=qwen3-30b-a3b compile_topology=v5p-128 per_device_batch_size=16 "
                          "max_target_length=2048 ici_fsdp_parallelism=64 remat_policy=full";
  const std::string dropping = " sparse_matmul=false capacity_factor=1.25";
  const auto found = weighed(FindingId::all_tokens_routed, run + dropping);
  ASSERT_TRUE(found);
  EXPECT_EQ(found->severity, Severity::warning);
  EXPECT_THAT(found->message, HasSubstr("choices of all 2,097,152 tokens of a step"));
  EXPECT_EQ(found->fix, "sparse_matmul=true");
  EXPECT_FALSE(weighed(FindingId::all_tokens_routed, run + " sparse_matmul=true"));
}

/// 190 of the 242 s of such a step are routing of all tokens. Whether a fix pays, what it spares under other flags and what
/// waits are said of the step that is shown, with them.
TEST(WeighFindings, CountTheRoutingOfAllTokensEverywhere) {
  const std::string run = "model_name=qwen3-235b-a22b compile_topology=v5p-512 custom_mesh_and_rule=pipeline-large-moe "
                          "ici_fsdp_parallelism=16 ici_expert_parallelism=16 sparse_matmul=false capacity_factor=1.25 "
                          "allow_split_physical_axes=true";
  const Evaluation now = evaluate(read(run));
  ASSERT_GT(now.time.all_token_routing, now.time.step() * 2.0);
  ASSERT_GT(now.time.exposed_collective, now.time.step() * 0.5);
  const auto exchange = weighed(FindingId::missing_all_to_all, run);
  ASSERT_TRUE(exchange);
  EXPECT_EQ(exchange->severity, Severity::warning) << "a quarter of the step with its fix";
  EXPECT_EQ(exchange->fix, "sparse_matmul=True");
  EXPECT_FALSE(weighed(FindingId::collectives_take_most, run)) << "an eighth";
  for (const CostUnderFlags& cost : exchange->under_flags) EXPECT_GT(cost.step, now.time.all_token_routing);
  EXPECT_FALSE(weighed(FindingId::activations_replicated, run)) << "its rule would steal the experts' axis";
}

/// Library products write their operands: experts' rows, scores of dot_product.
TEST(WeighFindings, SayWhatTheFlagsOfTheCommandNeed) {
  const std::string run = "model_name=llama3.1-8b max_target_length=4096 per_device_batch_size=10 ici_fsdp_parallelism=8 "
                          "attention=dot_product";
  const MachineChoice h100{"h100", 8, std::nullopt};
  const auto found = weighed(FindingId::memory_under_flags, run, h100);
  ASSERT_TRUE(found);
  EXPECT_EQ(found->severity, Severity::warning);
  EXPECT_THAT(found->message, HasSubstr("which does not fit"));
  EXPECT_FALSE(weighed(FindingId::memory_under_flags, run + " compile_xla_flags=--xla_gpu_enable_triton_gemm=false", h100));
  EXPECT_FALSE(weighed(FindingId::memory_under_flags, "model_name=llama3.1-8b per_device_batch_size=1 "
                       "ici_fsdp_parallelism=8 attention=cudnn_flash_jax", h100)) << "as much with them";
}

/// The command sets them: whether it fits is a question to both programs.
TEST(MemoryWithAssumedFlags, IsSpannedByTheRange) {
  const std::string late = "model_name=llama4-17b-16e compile_topology=tpu7x-64 ici_fsdp_parallelism=64 "
                           "per_device_batch_size=12 max_target_length=4096 remat_policy=full";
  const Configuration c = read(late);
  MemoryUse memory = evaluate(c).memory;
  const MemoryUse without = memory;
  EXPECT_EQ(memory.fit(), Fit::does_not_fit);
  span_assumed_flags(memory, c);
  EXPECT_EQ(memory.fit(), Fit::marginal) << "the scheduler of layers makes the head's gradient early";
  EXPECT_EQ(memory.peak(), without.peak()) << "of a program without flags, as none were given";
  EXPECT_EQ(memory.low, memory_with_assumed_flags(c)->with.low);
  EXPECT_FALSE(memory_with_assumed_flags(read(late + " compile_xla_flags=--xla_tpu_scoped_vmem_limit_kib=65536")));
}

/// Experts in int8 on the dropping path are Linen's, where the training loop keeps no whole weights.
TEST(Zero1, IsThatOfTheModulesThatTheCommandAsksFor) {
  const std::string run = "model_name=qwen3-30b-a3b compile_topology=v5p-32 ici_fsdp_parallelism=1 ici_data_parallelism=16 "
                          "quantization=int8 sparse_matmul=false capacity_factor=1.25 shard_optimizer_over_data=true";
  const auto of = [&](const std::string& more) {
    Configuration c = read(run + more);
    c.config.program = StepProgram::train;
    return evaluate(c);
  };
  const Evaluation asked = of(""), said = of(" enable_nnx=false pure_nnx=false pure_nnx_decoder=false");
  EXPECT_EQ(asked.memory.peak(), said.memory.peak());
  EXPECT_EQ(asked.time.step(), said.time.step());
}

TEST(WeighFindings, SayThatGradientsOfBiasesWait) {
  const std::string run = "model_name=gpt-oss-20b max_target_length=4096 ici_fsdp_parallelism=8 attention=dot_product "
                          "sparse_matmul=true per_device_batch_size=1";
  const auto found = weighed(FindingId::bias_gradients_wait, run, {"h100", 8, std::nullopt});
  ASSERT_TRUE(found);
  EXPECT_THAT(found->message, HasSubstr("the bfloat16 rows of an expert, 512 of them"));
  EXPECT_FALSE(weighed(FindingId::bias_gradients_unpriced, run, {"h100", 8, std::nullopt}));
  EXPECT_FALSE(weighed(FindingId::bias_gradients_wait, run, {"mi355x", 8, std::nullopt}));
  const auto unknown = weighed(FindingId::bias_gradients_unpriced, run, {"mi355x", 8, std::nullopt});
  ASSERT_TRUE(unknown);
  EXPECT_THAT(unknown->message, HasSubstr("were not measured on mi355x"));
  const std::string on_tpu = "model_name=gpt-oss-20b compile_topology=v5p-16 ici_fsdp_parallelism=8 sparse_matmul=true";
  EXPECT_FALSE(weighed(FindingId::bias_gradients_unpriced, on_tpu));
}

}  // namespace
}  // namespace shardplan
