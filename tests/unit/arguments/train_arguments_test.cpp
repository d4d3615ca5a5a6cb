// Settings: MaxText's defaults, its spellings, and what follows from what.
#include <gmock/gmock.h>

#include <models/decoder_block.hpp>
#include <gtest/gtest.h>

#include <arguments/settings/train_arguments.hpp>

#include <models/moe_paths.hpp>
#include <tests/unit/reading.hpp>

namespace shardplan {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;
using testing::Pair;

TEST(TrainArguments, HaveMaxTextsDefaults) {
  const TrainConfig config = read_llama("").config;
  EXPECT_EQ(config.per_device_batch_size, 12);
  EXPECT_EQ(config.max_target_length, 2048);
  EXPECT_EQ(config.remat_policy, "full");
  EXPECT_EQ(config.mu_dtype, DType::f32);
  EXPECT_EQ(config.moe_path, MoePath::none);
  EXPECT_EQ(config.num_pipeline_microbatches, -1);
}

TEST(TrainArguments, TakeMaxTextsSpellings) {
  for (const char* word : {"True", "true", "TRUE", "1"})
    EXPECT_TRUE(read_llama(std::string("pipeline_fsdp_ag_once=") + word).config.pipeline_fsdp_ag_once) << word;
  for (const char* word : {"False", "false", "0"})
    EXPECT_FALSE(read_llama(std::string("scan_layers=") + word).config.scan_layers) << word;
  EXPECT_EQ(read_llama("max_target_length=4_096").config.max_target_length, 4096);
  for (const char* word : {"2", "2.0", "2e0"})
    EXPECT_EQ(read_llama(std::string("per_device_batch_size=") + word).config.per_device_batch_size, 2) << word;
}

TEST(TrainArguments, TakeNamesOfEveryKind) {
  EXPECT_EQ(read_llama("dtype=float32").config.dtype, DType::f32);
  EXPECT_EQ(read_llama("attention=flash").config.attention, AttentionKernel::flash);
  EXPECT_EQ(read_llama("context_parallel_strategy=ring use_tokamax_splash=true").config.context_parallel_strategy,
            ContextStrategy::ring);
  EXPECT_EQ(read_llama("quantization=int8").config.quantization, Quantization::int8);
  EXPECT_EQ(read_llama("custom_mesh=hybrid_ring_64x4").config.custom_mesh, CustomMesh::hybrid_ring_64x4);
}

TEST(TrainArguments, LetMuFollowTheWeights) {
  EXPECT_EQ(read_llama("weight_dtype=bfloat16").config.mu_dtype, DType::bf16);
  EXPECT_EQ(read_llama("weight_dtype=bfloat16 mu_dtype=float32").config.mu_dtype, DType::f32);
  EXPECT_EQ(read_llama("mu_dtype=None").config.mu_dtype, DType::f32);
}

struct Path {
  const char* line;
  MoePath path;
};

TEST(TrainArguments, ChooseThePathThroughTheExperts) {
  const Path rows[] = {
      {"", MoePath::ragged},
      {"megablox=False", MoePath::ragged},
      {"capacity_factor=1.25", MoePath::ragged},
      {"use_ring_of_experts=True", MoePath::ring},
      {"sparse_matmul=False capacity_factor=1.25", MoePath::dropping},
      {"sparse_matmul=False capacity_factor=1.25 use_ring_of_experts=True", MoePath::dropping},
  };
  for (const auto& [line, path] : rows) EXPECT_EQ(name_of(read_mixtral(line).config.moe_path), name_of(path)) << line;
  EXPECT_EQ(read_llama("sparse_matmul=False").config.moe_path, MoePath::none);
  EXPECT_FALSE(read_mixtral("use_ring_of_experts=True").config.idle_ring_of_experts);
  EXPECT_TRUE(read_mixtral("sparse_matmul=False capacity_factor=1.25 use_ring_of_experts=True").config.idle_ring_of_experts);
  EXPECT_TRUE(read_llama("use_ring_of_experts=True").config.idle_ring_of_experts);
}

TEST(TrainArguments, KnowWhatLlama4Refuses) {
  Model model;
  model.decoder_block = decoder_block(DecoderBlockKind::llama4);
  model.num_experts = 16;
  EXPECT_FALSE(path_refusal(model, MoePath::ragged, -1));
  EXPECT_TRUE(path_refusal(model, MoePath::ragged, 1.25));
}

TEST(TrainArguments, SaveWhatThePolicySays) {
  EXPECT_THAT(read_llama("").config.saved, ElementsAre());
  EXPECT_THAT(read_llama("remat_policy=save_out_proj").config.saved, ElementsAre(Pair("out_proj", SavePlace::device)));
  EXPECT_THAT(read_llama("remat_policy=custom").config.saved,
              ElementsAre(Pair("decoder_layer_input", SavePlace::device)));
  EXPECT_THAT(read_llama("remat_policy=custom decoder_layer_input=offload context=device mlpwo=remat").config.saved,
              ElementsAre(Pair("context", SavePlace::device), Pair("decoder_layer_input", SavePlace::host)));
  EXPECT_THAT(read_llama("context=device").config.saved, ElementsAre());  // read under remat_policy=custom only
}

TEST(TrainArguments, TakeWhatTheModelsFileSets) {
  const Configuration c = read("model_name=gpt3-175b compile_topology=v5p-16");
  EXPECT_EQ(c.config.opt_type, OptimizerType::adam_pax);
  EXPECT_TRUE(c.config.use_iota_embed);
  EXPECT_THAT(printed(c), Not(HasSubstr("opt_type")));
  const Configuration sgd =
      read("model_name=gpt3-175b compile_topology=v5p-16 opt_type=sgd override_model_config=True");
  EXPECT_EQ(sgd.config.opt_type, OptimizerType::sgd);
  EXPECT_THAT(printed(sgd), HasSubstr("opt_type=sgd override_model_config=true"));
}

// envy-test is planned with the sparse path and its kernel, which its own file says no to.
TEST(TrainArguments, TakeWhatTheModelsFileSaysWhereAnotherIsPlanned) {
  const Configuration c = read("model_name=envy-test compile_topology=v5p-16 sparse_matmul=false megablox=false "
                               "capacity_factor=1.25");
  EXPECT_FALSE(c.config.megablox);
  EXPECT_THAT(printed(c), Not(HasSubstr("override_model_config")));
}

struct Counts {
  const char* line;
  std::int64_t microbatches, repeats, layers;
};

TEST(TrainArguments, FillPipelineCounts) {
  const Counts rows[] = {
      {"ici_pipeline_parallelism=2", 2, 16, 32},
      {"ici_pipeline_parallelism=4 num_pipeline_microbatches=8 num_layers_per_pipeline_stage=8", 8, 1, 32},
      {"ici_pipeline_parallelism=2 pipeline_delay_activation_forwarding=True", 4, 16, 32},
      {"ici_pipeline_parallelism=2 pipeline_parallel_layers=30", 2, 15, 30},
      {"ici_pipeline_parallelism=2 num_layers_per_pipeline_stage=3", 2, -1, 32},
  };
  for (const auto& [line, microbatches, repeats, layers] : rows) {
    SCOPED_TRACE(line);
    const TrainConfig config = read_llama(line).config;
    EXPECT_EQ(config.num_pipeline_microbatches, microbatches);
    EXPECT_EQ(config.num_pipeline_repeats, repeats);
    EXPECT_EQ(config.pipeline_parallel_layers, layers);
  }
}

TEST(TrainArguments, PipelineOnlyTheExpertLayersOfDeepSeek) {
  const auto c = read("model_name=deepseek3-671b compile_topology=v5p-16 ici_pipeline_parallelism=2");
  EXPECT_EQ(c.config.pipeline_parallel_layers, 58);
}

TEST(TrainArguments, PrintOnlyWhatDiffers) {
  EXPECT_EQ(printed(read_llama("ici_pipeline_parallelism=2 num_pipeline_microbatches=2 remat_policy=full")),
            "model_name=llama2-7b compile_topology=v5p-16 compile_topology_num_slices=1 ici_pipeline_parallelism=2 "
            "ici_fsdp_parallelism=4");
  EXPECT_THAT(printed(read_llama("ici_pipeline_parallelism=2 num_pipeline_microbatches=4")),
              HasSubstr("num_pipeline_microbatches=4"));
  EXPECT_THAT(printed(read_mixtral("sparse_matmul=False capacity_factor=1.25 megablox=False")),
              HasSubstr("megablox=false capacity_factor=1.25 sparse_matmul=false"));
  EXPECT_THAT(printed(read_llama("remat_policy=custom decoder_layer_input=remat out_proj=offload")),
              HasSubstr("remat_policy=custom decoder_layer_input=remat out_proj=offload"));
}

}  // namespace
}  // namespace shardplan
