// Each constraint: a line that breaks it, the numbers in the message; and its neighbour that does not.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <planner/constraints/constraints.hpp>
#include <rules/resolve.hpp>

#include <tests/unit/reading.hpp>

namespace shardplan {
namespace {

using testing::HasSubstr;

struct Broken {
  const char* line;
  const char* constraint;
  const char* message;
  std::int64_t needed, available;
};

const std::string llama_words = "model_name=llama2-7b compile_topology=v5p-16 ";
const std::string llama3 = "model_name=llama3.1-8b compile_topology=v5p-16 ";
const std::string mixtral = "model_name=mixtral-8x7b compile_topology=v5p-16 ";
const std::string deepseek = "model_name=deepseek2-16b compile_topology=v5p-16 ";

void expect_broken(const std::string& start, std::initializer_list<Broken> rows) {
  for (const auto& [line, constraint, message, needed, available] : rows) {
    SCOPED_TRACE(start + line);
    const auto violation = first_violation(read(start + line));
    ASSERT_TRUE(violation);
    EXPECT_EQ(name_of(violation->constraint), constraint);
    EXPECT_THAT(violation->message, HasSubstr(message));
    EXPECT_EQ(violation->needed, needed);
    EXPECT_EQ(violation->available, available);
  }
}

void expect_kept(const std::string& start, std::initializer_list<const char*> lines) {
  for (const char* line : lines) {
    const auto violation = first_violation(read(start + line));
    EXPECT_FALSE(violation) << start << line << ": " << violation->message;
  }
}

TEST(Constraints, Batch) {
  expect_broken(
      llama_words,
      {
          {"per_device_batch_size=0.3", "batch", "per_device_batch_size=0.3 on 8 devices is 2.4 sequences", 1, 2},
          {"per_device_batch_size=0.5", "batch-divisibility",
           "4 sequences (activation_embed_and_logits_batch of the token ids) can't be split over fsdp=8", 8, 4},
          {"per_device_batch_size=0.5 ici_tensor_parallelism=1 ici_fsdp_parallelism=4 ici_data_parallelism=2",
           "batch-divisibility", "data=2·fsdp=4 = 8", 8, 4},
      });
  expect_kept(llama_words, {"per_device_batch_size=0.5 ici_context_parallelism=2", "per_device_batch_size=1"});
}

TEST(Constraints, BatchOfTheExpertRuleSets) {
  expect_broken(mixtral, {{"per_device_batch_size=0.5 ici_fsdp_parallelism=2 ici_expert_parallelism=4",
                           "batch-divisibility", "fsdp=2·expert=4 = 8", 8, 4}});
  expect_kept(mixtral, {"per_device_batch_size=0.5 ici_expert_parallelism=4 custom_mesh_and_rule=ep-as-cp",
                        "per_device_batch_size=0.5 ici_fsdp_parallelism=2 ici_context_parallelism=2 "
                        "ici_expert_parallelism=2 custom_mesh_and_rule=cp-as-ep"});
}

TEST(Constraints, Sequence) {
  expect_broken(
      llama_words, {{"max_target_length=2050 ici_context_parallelism=4", "sequence-divisibility",
               "2,050 positions (activation_norm_length of the token ids) can't be split over context=4", 4, 2050}});
  expect_kept(llama_words, {"max_target_length=2048 ici_context_parallelism=4"});
}

TEST(Constraints, Heads) {
  expect_broken("model_name=llama3.1-8b compile_topology=v5p-32 ",
                {{"ici_tensor_parallelism=16", "kv-heads", "8 KV heads can't be split over", 16, 8}});
  expect_kept(llama3, {"ici_tensor_parallelism=8"});
  expect_kept(deepseek, {"ici_tensor_parallelism=8"});  // latent attention has no KV heads of its own
}

TEST(Constraints, Experts) {
  expect_broken(
      "model_name=mixtral-8x7b compile_topology=v5p-32 ",
      {{"ici_expert_parallelism=16", "expert-divisibility", "8 experts can't be split over 16 devices", 16, 8},
       {"ici_fsdp_parallelism=16 custom_mesh_and_rule=shard-exp-on-fsdp", "expert-divisibility",
        "8 experts can't be split over 16 devices", 16, 8}});
  expect_broken(mixtral, {
                             {"use_ring_of_experts=True", "ring-needs-expert-parallelism",
                              "needs experts on at least 2 devices", 2, 1},
                             {"use_ring_of_experts=True ici_expert_parallelism=4 megablox=False", "ring-needs-megablox",
                              "ragged_dot", 1, 0},
                             {"ragged_buffer_factor=1.5", "ragged-buffer", "needs experts on at least 2 devices", 2, 1},
                             {"ragged_buffer_factor=1.5 use_ring_of_experts=True ici_expert_parallelism=2",
                              "ragged-buffer", "needs use_ragged_sort=true", 1, 0},
                             {"use_random_routing=True", "random-routing-needs-expert-parallelism",
                              "needs experts on at least 2 devices", 2, 1},
                             {"ici_tensor_sequence_parallelism=2", "sparse-tensor-sequence", "wrong results", 1, 2},
                         });
  expect_kept(mixtral,
              {"use_ring_of_experts=True ici_expert_parallelism=4", "use_random_routing=True ici_expert_parallelism=4",
               "use_ring_of_experts=True ici_expert_parallelism=4 megablox=False use_tokamax_gmm=True",
               "ragged_buffer_factor=1.5 ici_expert_parallelism=2",
               "use_ring_of_experts=True ici_context_parallelism=2 custom_mesh_and_rule=cp-as-ep",
               "sparse_matmul=False capacity_factor=1 ici_tensor_sequence_parallelism=2"});
}

// MaxText checks the flags of expert parallelism whatever the path, and of dense models.
TEST(Constraints, ExpertFlagsThatNothingReads) {
  const std::string dropping = "sparse_matmul=False capacity_factor=1.25 ", idle_ring = "use_ring_of_experts=True ";
  const Broken no_ring{"use_ring_of_experts=True", "ring-needs-expert-parallelism", "this run has no ring: leave it out", 2,
                       1};
  const Broken no_buffer{"ragged_buffer_factor=1.5", "ragged-buffer", "this run has no such buffer: leave it out", 2, 1};
  expect_broken(mixtral + dropping, {no_ring, no_buffer});
  expect_broken(llama_words, {no_ring, no_buffer});
  expect_broken(mixtral, {{"ragged_buffer_factor=0", "ragged-buffer", "no such buffer", 2, 1}});
  expect_broken(mixtral + dropping + idle_ring,
                {{"ragged_buffer_factor=1.5 ici_expert_parallelism=4", "ragged-buffer", "needs use_ragged_sort=true", 1,
                  0}});
  expect_kept(mixtral + dropping,
              {"use_ring_of_experts=True ici_expert_parallelism=4", "ragged_buffer_factor=1.5 ici_expert_parallelism=4"});
  const Configuration idle = read(mixtral + dropping + idle_ring);
  EXPECT_EQ(read(printed(idle), {"tpu-v5p", 8, {}}).config, idle.config);
}

TEST(Constraints, Pipeline) {
  expect_broken(
      llama_words,
      {
          {"ici_pipeline_parallelism=2 num_layers_per_pipeline_stage=3", "pipeline-layers",
           "2 stages of 3 layers don't divide the 32 layers", 6, 32},
          {"ici_pipeline_parallelism=2 num_layers_per_pipeline_stage=4 num_pipeline_repeats=2", "pipeline-layers",
           "2 stages x 2 repeats x 4 layers a stage is 16 layers, but 32 are in the pipeline", 16, 32},
          {"ici_pipeline_parallelism=2 pipeline_parallel_layers=34", "pipeline-layers", "llama2-7b has 32 layers", 34,
           32},
          {"ici_pipeline_parallelism=4 num_pipeline_microbatches=6", "pipeline-microbatches",
           "6 microbatches are not a multiple of 4 stages", 4, 6},
          {"ici_pipeline_parallelism=4 num_pipeline_microbatches=4 pipeline_delay_activation_forwarding=True",
           "pipeline-microbatches", "delayed forwarding over 4 stages needs 8 microbatches", 8, 4},
          {"ici_pipeline_parallelism=2 num_pipeline_microbatches=24 per_device_batch_size=4", "pipeline-batch",
           "32 sequences can't be split into 24 microbatches", 24, 32},
          {"ici_pipeline_parallelism=2 num_pipeline_microbatches=16 per_device_batch_size=4", "batch-divisibility",
           "2 sequences (activation_batch of the layer input) can't be split over fsdp=4", 4, 2},
          {"ici_pipeline_parallelism=2 num_layers_per_pipeline_stage=16 pipeline_fsdp_ag_per_repeat=True",
           "pipeline-prefetch", "at least 2 repeats", 2, 1},
          {"ici_pipeline_parallelism=2 num_layers_per_pipeline_stage=2 pipeline_fsdp_ag_per_repeat=True",
           "pipeline-prefetch", "1 layer a stage, not 2", 1, 2},
          {"ici_pipeline_parallelism=2 remat_policy=minimal_offloaded", "pipeline-remat",
           "remat_policy=minimal_offloaded moves activations to the host", 1, 0},
      });
  expect_kept(llama_words, {"ici_pipeline_parallelism=2", "ici_pipeline_parallelism=2 num_pipeline_microbatches=8",
                      "ici_pipeline_parallelism=2 pipeline_fsdp_ag_per_repeat=True",
                      "ici_pipeline_parallelism=2 remat_policy=custom decoder_layer_input=offload",
                      "remat_policy=minimal_offloaded"});
}

TEST(Constraints, PipelineOfDeepSeekHasOnlyItsExpertLayers) {
  expect_broken(deepseek, {{"ici_pipeline_parallelism=4", "pipeline-layers", "the 26 layers", 4, 26},
                           {"ici_pipeline_parallelism=2 pipeline_parallel_layers=27", "pipeline-layers",
                            "26 mixture-of-experts layers", 27, 26}});
  expect_kept(deepseek, {"ici_pipeline_parallelism=2"});
}

TEST(Constraints, Settings) {
  expect_broken(llama_words,
                {
                    {"num_vocab_tiling=5 per_device_batch_size=1", "vocab-tiling", "2048 tokens a device", 5, 2048},
                    {"per_device_batch_size=0.125 ici_tensor_parallelism=8 max_target_length=2049 attention=dot_product",
                     "vocab-tiling", "0.125 sequences of 2,049 tokens on a device are 256.125 tokens", 1, 256},
                    {"shard_optimizer_over_data=True opt_type=sgd", "optimizer-over-data", "not sgd", 1, 0},
                    {"shard_mode=explicit ici_pipeline_parallelism=2 pipeline_fsdp_ag_per_repeat=True",
                     "explicit-sharding", "names 'stage' twice", 1, 0},
                });
  expect_broken(mixtral, {
                             {"shard_mode=explicit", "explicit-sharding", "not mixtral", 1, 0},
                             {"opt_type=muon", "muon-decoder", "not mixtral", 1, 0},
                         });
  expect_kept(llama_words, {"shard_mode=explicit", "opt_type=muon", "num_vocab_tiling=4"});
}

// Compiled with MaxText e591f30cb: DuplicateSpecError, ShardingTypeError, "Sharding on sequence dim is not allowed".
TEST(Constraints, WhatJaxDoesNotTrace) {
  const std::string peeled = mixtral + "ici_fsdp_parallelism=2 ici_expert_parallelism=4 sparse_matmul=False "
                                       "capacity_factor=1.25 custom_mesh_and_rule=";
  const auto refusal = [](const std::string& words, const MachineChoice& machine = {}) {
    return first_violation(read(words, machine));
  };
  const auto twice = refusal(peeled + "ep-tp moe_dispatch_no_expert_sharding=True");
  ASSERT_TRUE(twice);
  EXPECT_EQ(name_of(twice->constraint), "dispatch-names-axis-twice");
  EXPECT_THAT(twice->message, HasSubstr("would be split over expert on two dims"));
  EXPECT_FALSE(refusal(peeled + "ep-tp"));
  EXPECT_FALSE(refusal(peeled + "default moe_dispatch_no_expert_sharding=True"));
  const auto rotation = refusal("model_name=llama3.1-8b compile_topology=v5p-16 shard_mode=explicit");
  ASSERT_TRUE(rotation);
  EXPECT_THAT(rotation->message, HasSubstr("rope_type llama3.1"));
  EXPECT_FALSE(refusal("model_name=llama2-7b compile_topology=v5p-16 shard_mode=explicit"));
  const std::string kernel = "model_name=llama2-7b packing=False attention=cudnn_flash_";
  const auto split = refusal(kernel + "jax ici_context_parallelism=2", {"h100", 8, std::nullopt});
  ASSERT_TRUE(split);
  EXPECT_THAT(split->message, HasSubstr("takes whole sequences, and context=2 splits them"));
  EXPECT_FALSE(refusal(kernel + "jax", {"h100", 8, std::nullopt}));
  EXPECT_FALSE(refusal(kernel + "te ici_context_parallelism=2", {"h100", 8, std::nullopt}));
}

TEST(Constraints, Quantization) {
  expect_broken(llama_words, {{"quantization=fp8 gradient_accumulation_steps=2", "quantization",
                         "takes 1 gradient_accumulation_steps, not 2", 1, 2}});
  expect_broken(mixtral, {{"quantization=fp8", "quantization", "has no grouped product for sparse_matmul=true", 1, 0}});
  const auto on_mi355x = first_violation(read("model_name=llama2-7b quantization=int8 attention=cudnn_flash_te "
                                              "max_segments_per_seq=32", {"mi355x", 8, std::nullopt}));
  ASSERT_TRUE(on_mi355x);
  EXPECT_THAT(on_mi355x->message, HasSubstr("has no peak_int8 to price the products with; peak_fp8 it has"));
  expect_kept(llama_words, {"quantization=int8 gradient_accumulation_steps=2", "quantization=fp8",
                      "quantization=fp8_full use_qwix_quantization=True"});
  expect_kept(mixtral, {"quantization=int8", "quantization=fp8 sparse_matmul=False capacity_factor=1"});
}

TEST(Constraints, ContextStrategies) {
  const std::string flash = llama_words + "attention=flash use_tokamax_splash=True ";
  expect_broken(flash, {
                           {"context_parallel_strategy=ring", "context-strategy", "needs context above 1, not 1", 2, 1},
                           {"context_parallel_strategy=ring ici_context_parallelism=4 max_target_length=2056",
                            "context-strategy", "max_target_length to be a multiple of 16, not 2056", 16, 2056},
                           {"context_parallel_strategy=ulysses ici_context_parallelism=4", "context-strategy",
                            "needs context_parallel_load_balance=false", 0, 1},
                           {"context_parallel_strategy=usp ici_context_parallelism=2", "context-strategy",
                            "needs context_usp_ulysses above 1", 2, 1},
                           {"ici_context_usp_ulysses_parallelism=2", "context-strategy",
                            "leaves no use for context_usp_ulysses=2", 1, 2},
                       });
  expect_broken(llama_words, {{"context_parallel_strategy=ring use_tokamax_splash=True ici_context_parallelism=2",
                         "context-strategy", "needs attention=flash, not autoselected", 1, 0}});
  expect_broken("model_name=llama3.1-8b compile_topology=v5p-32 attention=flash use_tokamax_splash=True ",
                {{"context_parallel_strategy=ulysses ici_context_parallelism=16 context_parallel_load_balance=False",
                  "context-strategy", "KV heads to be a multiple of 16, not 8", 16, 8}});
  expect_kept(flash, {"context_parallel_strategy=ring ici_context_parallelism=4",
                      "context_parallel_strategy=ulysses ici_context_parallelism=4 context_parallel_load_balance=False",
                      "context_parallel_strategy=usp ici_context_parallelism=2 ici_context_usp_ulysses_parallelism=2"});
}

TEST(Constraints, WeightsAreCheckedByTheirSpec) {
  const Configuration c = read(mixtral + "ici_fsdp_parallelism=4 ici_expert_parallelism=2");
  const PartitionSpec spec = resolve({"exp", "embed_moe", "mlp_moe"}, c.rules, c.mesh);
  Block layers;
  layers.name = "layers";
  Tensor weight;
  weight.name = "wi_0";
  weight.dims = {{Dim::experts, 8}, {Dim::embed, 4096}, {Dim::mlp, 14336}};
  EXPECT_FALSE(indivisible(layers, weight, spec, c.mesh));
  weight.dims[1].size = 4098;
  const auto violation = indivisible(layers, weight, spec, c.mesh);
  ASSERT_TRUE(violation);
  EXPECT_EQ(violation->message, "dim 1 of layers/wi_0 is 4098, which fsdp=4 can't divide");
  EXPECT_EQ(violation->needed, 4);
  EXPECT_EQ(violation->available, 4098);
}

// layers/multi_token_prediction.py fetches a token's neighbour from the next device.
TEST(Constraints, MultiTokenPrediction) {
  const std::string split = "ici_context_parallelism=2 ici_fsdp_parallelism=4 max_target_length=2048 ";
  expect_broken(llama_words + split, {{"mtp_num_layers=1", "multi-token-prediction",
                                       "MaxText wants context_parallel_load_balance=false", 1, 0},
                                      {"mtp_num_layers=2 context_parallel_load_balance=false", "multi-token-prediction",
                                       "MaxText takes 1 of packed documents", 1, 0}});
  expect_broken("model_name=gpt-oss-20b compile_topology=v5p-16 scan_layers=false ",
                {{"mtp_num_layers=1", "multi-token-prediction", "set scan_layers=true", 1, 0}});
  expect_kept(llama_words + split, {"mtp_num_layers=1 context_parallel_load_balance=false",
                                    "mtp_num_layers=2 context_parallel_load_balance=false packing=false"});
}

}  // namespace
}  // namespace shardplan
