// Everything that can be wrong with a line of arguments, and what the message says.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <tests/unit/reading.hpp>

namespace shardplan {
namespace {

using testing::HasSubstr;

struct Wrong {
  const char* line;
  const char* message;
};

const std::string llama = "model_name=llama2-7b compile_topology=v5p-16 ";
const std::string mixtral = "model_name=mixtral-8x7b compile_topology=v5p-16 ";

void expect_messages(const std::string& start, std::initializer_list<Wrong> rows) {
  for (const auto& [line, message] : rows) EXPECT_THAT(error_of(start + line), HasSubstr(message)) << start << line;
}

TEST(ArgumentErrors, Words) {
  expect_messages(
      llama, {
                 {"fsdp", "expected KEY=VALUE as MaxText takes it, not 'fsdp'"},
                 {"=8", "expected KEY=VALUE"},
                 {"remat_policy=full remat_policy=minimal", "remat_policy is given twice: 'full' and 'minimal'"},
                 {"ici_fdsp_parallelism=8", "unknown argument 'ici_fdsp_parallelism'; nearest: ici_fsdp_parallelism"},
                 {"per_device_batchsize=8", "nearest: per_device_batch_size"},
                 {"gbs=2", "unknown argument 'gbs'; nearest: per_device_batch_size"},
                 {"ici_tensor_transpose_parallelism=2", "unknown argument"},
             });
  EXPECT_EQ(error_of(llama + "remat_policy=full remat_policy=full"), "") << "as pasted scripts have them";
}

TEST(ArgumentErrors, Values) {
  expect_messages(
      llama, {
                 {"max_target_length=2048.0", "max_target_length=2048.0: expected a whole number, not '2048.0'"},
                 {"max_target_length=", "expected a whole number, not ''"},
                 {"max_target_length=_4096", "expected a whole number, not '_4096'"},
                 {"max_target_length=99999999999999999999", "expected a whole number"},
                 {"max_target_length=0", "must be at least 1"},
                 {"max_target_length=-1", "must be at least 1"},
                 {"num_pipeline_microbatches=0", "must be at least 1"},
                 {"sa_block_q=0", "must be at least 1"},
                 {"wi_tile_fwd_batch_seq=-5", "wi_tile_fwd_batch_seq=-5: must be at least 1"},
                 {"wo_tile_drhs_mlp_dim=0", "must be at least 1"},
                 {"wi_tile_dlhs_embed_dim=wide", "expected a whole number, not 'wide'"},
                 {"fsdp_shard_on_exp=True", "unknown argument 'fsdp_shard_on_exp'; nearest: shard_exp_on_fsdp"},
                 {"per_device_batch_size=two", "per_device_batch_size=two: expected a number, not 'two'"},
                 {"per_device_batch_size=2x", "expected a number"},
                 {"per_device_batch_size=nan", "expected a number"},
                 {"per_device_batch_size=inf", "expected a number"},
                 {"per_device_batch_size=-1", "must be at least 0"},
                 {"steps=abc", "steps=abc: expected a number, not 'abc'"},
                 {"steps=-5", "steps=-5: must be at least -1"},
                 {"steps=1.5", "steps=1.5: expected a whole number"},
                 {"enable_checkpointing=maybe", "enable_checkpointing=maybe: expected True or False, not 'maybe'"},
                 {"checkpoint_period=abc", "checkpoint_period=abc: expected a number"},
                 {"eval_interval=abc", "eval_interval=abc: expected a number"},
                 {"log_period=", "log_period=: expected a number"},
                 {"profiler_steps=few", "profiler_steps=few: expected a number"},
                 {"scan_layers=maybe", "scan_layers=maybe: expected True or False, not 'maybe'"},
                 {"dtype=bf16", "dtype=bf16: unknown value 'bf16'; known: bfloat16, float32, float16"},
                 {"opt_type=adafactor", "opt_type=adafactor: unknown value 'adafactor'"},
                 {"attention=flsh", "nearest: flash"},
                 {"shard_mode=manual", "unknown value 'manual'; known: auto, explicit"},
                 {"context_parallel_strategy=gather", "unknown value 'gather'; known: all_gather, ring, ulysses, usp"},
                 {"remat_policy=minimall", "remat_policy: unknown policy 'minimall'; nearest: minimal"},
                 {"remat_policy=none scan_layers=false", "nothing is computed again are not modelled: set scan_layers=true"},
                 {"remat_policy=minimal_with_quantization quantization=te_fp8_currentscaling", "modelled: set minimal"},
                 {"learning_rate=abc", "learning_rate=abc: expected a number, not 'abc'"},
                 {"adam_b1=", "expected a number"},
                 {"dropout_rate=1.5", "dropout_rate=1.5: must be from 0 to 1"},
                 {"scan_pipeline_iterations=false ici_pipeline_parallelism=2", "a pipeline's iterations as a loop"},
                 {"remat_policy=custom context=host", "context=host: unknown value 'host'"},
                 {"logical_axis_rules=[['norm',['fsdp']", "arguments"},
             });
}

// configs/types.py: of keys that cost nothing, too.
TEST(ArgumentErrors, ValuesThatNoRunStartsWith) {
  expect_messages(llama, {{"normalization_layer_epsilon=abc", "normalization_layer_epsilon=abc: expected a number"},
                          {"rope_type=foo", "rope_type=foo: unknown value 'foo'; known: default, llama3.1, yarn"},
                          {"matmul_precision=foo", "matmul_precision=foo: unknown value 'foo'; known: default, high"},
                          {"skip_step_on_spikes=maybe", "skip_step_on_spikes=maybe: expected True or False"},
                          {"norm_topk_prob=maybe", "expected True or False"},
                          {"rope_max_timescale=a", "rope_max_timescale=a: expected a number"},
                          {"rope_max_timescale=0.5", "expected a whole number, not '0.5'"},
                          {"adam_b1=7", "adam_b1=7: must be from 0 to 1"},
                          {"gradient_clipping_threshold=-1", "gradient_clipping_threshold=-1: must be at least 0"},
                          {"attn_logits_soft_cap=-3", "attn_logits_soft_cap=-3: must be at least 0"},
                          {"attention_bias=maybe", "attention_bias=maybe: expected True or False"}});
  for (const char* word : {"attn_logits_soft_cap=None", "rope_max_timescale=1e6", "rope_type=llama3.1",
                           "matmul_precision=HIGHEST", "skip_step_on_spikes=off", "learning_rate_schedule_steps=-1",
                           "attention_bias=0", "use_qk_norm=no", "packing=0", "scan_layers=yes"})
    EXPECT_EQ(error_of(llama + word), "") << word;
}

TEST(ArgumentErrors, NotModelled) {
  expect_messages(mixtral, {
                               {"use_indexer=True", "use_indexer"},
                               {"indexer_loss_scaling_factor=0.1", "the indexer's own loss"},
                               {"num_moe_token_chunks=2", "does not model num_moe_token_chunks yet"},
                               {"enable_nnx=False", "models NNX (all true) and Linen (all false), no mix"},
                               {"use_jax_splash=True", "another attention kernel"},
                               {"dcn_diloco_parallelism=2", "DiLoCo"},
                               {"context_parallel_reorder_strategy=striped ici_context_parallelism=2", "leave it to auto"},
                               {"matmul_precision=highest dtype=float32", "in other than one pass are not modelled"},
                               {"activations_in_float32=true sparse_matmul=false capacity_factor=1.25",
                                "experts' activations in float32"},
                               {"float32_logits=true attention=dot_product",
                                "scores in float32 are not modelled with attention=dot_product"},
                               {"param_scan_axis=2", "param_scan_axis=2: must be at most 1"},
                               {"parameter_memory_host_offload=true", "MaxText wants param_scan_axis=0, not 1"},
                               {"parameter_memory_host_offload=true param_scan_axis=0 enable_nnx=False pure_nnx=False "
                                "pure_nnx_decoder=False", "modelled with NNX modules, not with Linen's"},
                           });
}

// MaxText heeds the order where a split sequence is balanced; auto's own word is no other.
TEST(ArgumentErrors, StripesWhereNothingIsReorderedAreNone) {
  const std::string striped = "context_parallel_reorder_strategy=striped ";
  EXPECT_EQ(error_of(llama + striped), "");
  EXPECT_EQ(error_of(llama + striped + "ici_context_parallelism=2 context_parallel_load_balance=false"), "");
  const std::string gpus = "model_name=llama2-7b compile_topology=h100-8 hardware=gpu attention=cudnn_flash_te "
                           "max_segments_per_seq=32 ici_context_parallelism=2 " + striped;
  EXPECT_EQ(error_of(gpus + "context_parallel_strategy=ring"), "");
  EXPECT_THAT(error_of(gpus + "context_parallel_strategy=ring packing=false"), HasSubstr("leave it to auto"));
  EXPECT_THAT(error_of(gpus), HasSubstr("leave it to auto"));
  const std::string masked = "model_name=deepseek3.2-671b compile_topology=v5p-128 attention=flash use_tokamax_splash=true "
                             "indexer_sparse_training=true packing=false ";
  EXPECT_THAT(error_of(masked + "ici_context_parallelism=2 context_parallel_strategy=ring dq_reduction_steps=3"),
              HasSubstr("a ring with an indexer's mask takes 0"));
}

TEST(ArgumentErrors, ValuesOfQuantization) {
  expect_messages(llama, {{"quantization=int9", "unknown value 'int9'; nearest: int4, int8"},
                          {"quantization=fp8_full", "fp8_full: MaxText does not start with it unless use_qwix"},
                          {"quantization=fp8_gpu", "unless use_qwix_quantization=true"},
                          {"quantization=int4", "unless use_qwix_quantization=true"},
                          {"quantization=nanoo_fp8 use_qwix_quantization=True", "would train without quantization"},
                          {"quantization=te_mxfp8", "scales of blocks of numbers, which Blackwell alone multiplies with"},
                          {"quantization=te_fp8_delayedscaling use_qwix_quantization=true", "would train without"},
                          {"quantization=intmp", "it wants quant_cfg_path, a file of bits by names of modules; modelled"},
                          {"quantization=intmp quant_cfg_path=x.json", "x.json: cannot be read"},
                          {"quantization=magic", "unknown value 'magic'; known: int4, int8"},
                          {"attention=magic", "unknown value 'magic'; known: autoselected"},
                          {"act_quantization_calibration_method=max", "unknown value 'max'; known: absmax"},
                          {"act_quantization_calibration_method=fixed", "one or two bounds, as in fixed,-224,224"},
                          {"act_quantization_calibration_method=rms", "a factor, as in rms,7"},
                          {"act_quantization_calibration_method=fixed,x", "expected a number, not 'x'"}});
  for (const char* value : {"int8", "fp8", "nanoo_fp8", "te_fp8_delayedscaling", "None"})
    EXPECT_EQ(error_of(llama + "quantization=" + value), "") << value;
  for (const char* value : {"int4", "int8", "fp4", "fp8", "fp8_e4m3", "fp8_e5m2", "fp8_full", "fp8_gpu", "fp8_nanoo"})
    EXPECT_EQ(error_of(llama + "use_qwix_quantization=true quantization=" + value), "") << value;
}

TEST(ArgumentErrors, MixtureOfExpertsPaths) {
  expect_messages(
      mixtral,
      {
          {"sparse_matmul=False", "sparse_matmul=false with capacity_factor=-1 computes every expert for every token"},
          {"sparse_matmul=False capacity_factor=0", "set capacity_factor=1.25, say, or sparse_matmul=true"},
          {"capacity_factor=-2", "must be at least -1"},
      });
  expect_messages(
      "compile_topology=v5p-16 ",
      {
          {"model_name=gpt-oss-20b sparse_matmul=False capacity_factor=1.0", "gpt_oss decoder takes only -1"},
          {"model_name=deepseek3-671b-batchsplit batch_split_factor=4", "deepseek3-671b-batchsplit says 2"},
          {"model_name=deepseek3-671b batch_split_factor=2", "deepseek3-671b says 1"},
          {"model_name=deepseek3-671b-batchsplit sparse_matmul=False capacity_factor=1.0",
           "gather their tokens and scatter their sums, whatever path"},
          {"model_name=qwen3-8b mtp_num_layers=1", "call this decoder's without an argument that it needs: leave it out"},
          {"model_name=deepseek4-284b mtp_num_layers=1", "MaxText excludes it beside this decoder"},
          {"model_name=deepseek-custom mtp_num_layers=1", "one stream, and those of this model carry several"},
          {"model_name=gemma4-26b mtp_num_layers=1", "beside these layers is not modelled"},
          {"model_name=gemma4-e2b scan_layers=true override_model_config=true", "layers one by one: set scan_layers=false"},
      });
}

TEST(ArgumentErrors, Model) {
  expect_messages(
      "compile_topology=v5p-16 ",
      {
          {"", "which model? give model_name=NAME"},
          {"model_name=default num_experts=8", "no such dim"},
          {"model_name=default decoder_block=mixtral", "decoder_block=mixtral: give num_experts"},
          {"model_name=default decoder_block=gemma", "is planned with llama2, mistral or mixtral; give a model of gemma"},
          {"model_name=default attention_bias=true", "default says false"},
          {"model_name=default mlp_activations=[rlu]", "mlp_activations: unknown activation 'rlu'; nearest: relu"},
          {"model_name=mixtrl-8x7b", "nearest: mixtral-8x7b"},
          {"model_name=mixtral-8x7b base_num_decoder_layers=4",
           "base_num_decoder_layers=4: mixtral-8x7b says 32; add override_model_config=true"},
          {"model_name=mixtral-8x7b decoder_block=llama2", "mixtral-8x7b says mixtral"},
          {"model_name=mixtral-8x7b base_mlp_dim=8192 override_model_config=true", "must equal moe_mlp=14336"},
          {"model_name=gpt3-175b opt_type=adamw", "gpt3-175b says adam_pax; add override_model_config=true"},
          {"model_name=llama2-7b num_experts=8", "no such dim"},
          {"model_name=gpt3-6b logits_dot_in_fp32=true", "gpt3-6b says false; add override_model_config=true"},
          {"model_name=llama3.1-8b head_dim=64", "llama3.1-8b says 128; add override_model_config=true"},
      });
}

TEST(ArgumentErrors, Mesh) {
  expect_messages(
      llama,
      {
          {"ici_fsdp_parallelism=3",
           "mesh: ici_fsdp_parallelism=3 does not multiply to the 8 devices of a slice or node "
           "(v5p-16); set ici_fsdp_parallelism=8"},
          {"ici_fsdp_parallelism=4 ici_expert_parallelism=4", "set ici_fsdp_parallelism=2"},
          {"ici_tensor_parallelism=3", "ici_tensor_parallelism=3 does not divide the 8 devices"},
          {"ici_tensor_parallelism=3", "set ici_tensor_parallelism=4"},
          {"ici_tensor_parallelism=9", "set ici_tensor_parallelism=8"},
          {"ici_tensor_parallelism=3 compile_topology_num_slices=2", "set ici_tensor_parallelism=4"},
          {"ici_data_parallelism=-1", "ici_data_parallelism and ici_fsdp_parallelism are both -1"},
          {"ici_data_parallelism=-1", "set ici_fsdp_parallelism=1"},
          {"ici_data_parallelism=0", "ici_data_parallelism=0: expected at least 1, or -1"},
          {"ici_data_parallelism=-2", "expected at least 1, or -1"},
          {"dcn_data_parallelism=2", "dcn_data_parallelism=2: there is one slice only"},
          {"dcn_data_parallelism=2 ici_fsdp_parallelism=4", "dcn_data_parallelism=2: there is one slice only"},
          {"compile_topology_num_slices=2 dcn_fsdp_parallelism=3",
           "mesh between slices: dcn_fsdp_parallelism=3 does not "
           "divide the 2 slices"},
          {"custom_mesh_and_rule=pure-fsdp compile_topology_num_slices=2", "set dcn_fsdp_parallelism=2"},
          {"custom_mesh_and_rule=pure-fsdp ici_pipeline_parallelism=2", "rule set 'pure-fsdp' has no stage axis"},
          {"ici_pipeline_parallelism=-1", "need a number"},
          {"custom_mesh_and_rule=ep-as-pc", "nearest: "},
          {"context_parallel_strategy=ring ici_context_parallelism=2", "needs use_tokamax_splash=true"},
      });
}

/// A large slice has many sizes that divide it.
TEST(ArgumentErrors, NameTheNearestSizeOfAMesh) {
  expect_messages("model_name=llama3-70b compile_topology=v5p-128 ",
                  {{"ici_tensor_parallelism=7", "; set ici_tensor_parallelism=8"},
                   {"ici_tensor_parallelism=7 ici_data_parallelism=32", "; set ici_tensor_parallelism=2"},
                   {"ici_tensor_parallelism=7 ici_fsdp_parallelism=1", "; set ici_tensor_parallelism=64"}});
}

TEST(ArgumentErrors, Machine) {
  EXPECT_THAT(error_of("model_name=llama2-7b"), HasSubstr("which machine?"));
  expect_messages(
      "model_name=llama2-7b ",
      {
          {"compile_topology=v5p-17", "v5p-16"},
          {"compile_topology=v7x-64", "unknown topology 'v7x-64'; nearest: tpu7x-64"},
          {"compile_topology=v5p-16 compile_topology_num_slices=0", "expected at least 1"},
          {"compile_topology=v5p-16 num_slices=2 compile_topology_num_slices=4", "4 slices asked for elsewhere"},
          {"compile_topology=v5p-16 hardware=gpu", "tpu-v5p needs hardware=tpu"},
      });
}

}  // namespace
}  // namespace shardplan
