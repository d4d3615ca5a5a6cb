// Words that hold for every candidate: what a run of explain is refused with, no plan may have (start_checks.hpp).
#include <gmock/gmock.h>

#include <planner/search/space/parallelism.hpp>
#include <shardplan/error.hpp>

#include "requests.hpp"

namespace shardplan {
namespace {

using testing::HasSubstr;

struct Asked {
  std::string model, machine, mesh;
  std::vector<std::string> words;
  std::string reason;
  MoePath path = MoePath::none;  ///< the one that is asked for
};

PlanRequest request_of(const Asked& asked) {
  PlanRequest request = request_for(asked.model, asked.machine, 8);
  if (!asked.mesh.empty()) request.mesh = parse_axis_sizes(asked.mesh);
  if (asked.path != MoePath::none) request.moe_paths = {asked.path};
  return request;
}

/// What a plan is refused with, as it reads its words or once it knows what it could choose; "": nothing.
std::string refusal_of(const Asked& asked) try {
  return plan_one(with_settings(request_of(asked), asked.words)).refused;
} catch (const InputError& error) {
  return error.what();
}

TEST(GivenWords, OfNoRunAreErrorsBeforeASearch) {
  const Asked rows[] = {
      {"llama2-7b", "tpu-v5p", "", {"dropout_rate=2"}, "dropout_rate=2: must be from 0 to 1"},
      {"llama2-7b", "tpu-v5p", "", {"partial_rotary_factor=0.5"}, "rotate a part of a head"},
      {"llama2-7b", "tpu-v5p", "", {"force_q_layout=true"}, "needs use_jax_splash"},
      {"gpt-oss-20b", "tpu-v5p", "", {"routed_bias_update_rate=0.1"}, "only DeepSeek's decoder"},
      {"deepseek3-671b-batchsplit", "tpu-v5p", "", {"merge_gating_gmm=true"}, "with two kernels"},
      {"deepseek3.2-671b", "tpu-v5p", "", {"indexer_sparse_training=false"}, "computes no loss"},
      {"llama2-7b", "tpu-v5p", "", {"matmul_precision=highest", "dtype=float32"}, "in other than one pass"},
  };
  for (const Asked& row : rows)
    EXPECT_THAT([&] { with_settings(request_of(row), row.words); },
                testing::ThrowsMessage<InputError>(HasSubstr(row.reason)))
        << row.words.front();
}

TEST(GivenWords, ThatNoCandidateCanHaveRefuseTheMachine) {
  const Asked rows[] = {
      {"llama2-7b", "h100", "", {"dropout_rate=0.1"}, "attention=cudnn_flash_te's is not"},
      {"llama2-7b", "tpu-v5p", "stage=2", {"scan_pipeline_iterations=false"}, "a pipeline's iterations as a loop"},
      {"llama2-7b", "tpu-v5p", "stage=2", {"scan_layers_per_stage=true"}, "a stage's layers written out"},
      {"llama2-7b", "tpu-v5p", "stage=2", {"set_remat_policy_on_pipeline_iterations=false"}, "recomputed as a whole"},
      {"llama2-7b", "tpu-v5p", "stage=2", {"set_remat_policy_on_layers_per_stage=true"}, "not their stages' layers"},
      {"mixtral-8x7b", "h100", "", {"use_tokamax_gmm=true"}, "grouped matmul on TPUs"},
      {"mixtral-8x7b", "tpu-v5p", "expert=2", {"shard_exp_on_fsdp=true"}, "without the expert axis"},
      {"mixtral-8x7b", "tpu-v5p", "expert=2", {"use_2d_fsdp_sharding=true"}, "without the expert axis"},
      {"llama2-7b", "tpu-v5p", "", {"context_sharding=tensor"}, "the first axis of rule activation_length"},
      {"llama2-7b", "tpu-v5p", "", {"grain_use_elastic_iterator=true", "packing=true"}, "needs packing=false"},
      {"llama2-7b", "tpu-v5p", "context=2", {"context_parallel_reorder_strategy=striped"}, "leave it to auto"},
      {"llama2-7b", "tpu-v5p", "context=2", {"context_parallel_strategy=ring", "use_tokamax_splash=false"}, "need it"},
      {"mixtral-8x7b", "tpu-v5p", "", {"activations_in_float32=true"}, "with sparse_matmul=false", MoePath::dropping},
      {"gpt-oss-20b", "h100", "", {"float32_logits=true"}, "scores in float32 are not modelled"},
      {"gpt-oss-20b", "h100", "", {"float32_qk_product=true"}, "scores in float32 are not modelled"},
  };
  for (const Asked& row : rows) EXPECT_THAT(refusal_of(row), HasSubstr(row.reason)) << row.words.front();
}

TEST(GivenWords, LeaveTheCandidatesThatCanHaveThem) {
  const Asked rows[] = {
      {"mixtral-8x7b", "tpu-v5p", "", {"shard_exp_on_fsdp=true"}, ""},
      {"mixtral-8x7b", "tpu-v5p", "", {"activations_in_float32=true"}, ""},
      {"llama2-7b", "tpu-v5p", "", {"scan_pipeline_iterations=false"}, ""},
      {"llama2-7b", "tpu-v5p", "", {"context_parallel_reorder_strategy=striped"}, ""},
  };
  for (const Asked& row : rows) {
    const SearchSpace space = space_of(with_settings(request_of(row), row.words));
    const Parallelisms found = enumerate_parallelisms(space);
    EXPECT_TRUE(found.rejections.has(ConstraintId::given_argument)) << row.words.front();
    EXPECT_FALSE(found.list.empty()) << row.words.front();
    for (const Parallelism& p : found.list)
      EXPECT_FALSE(broken_condition(configuration_of(space, p, space.remat_policies.front(), p.batches.front())))
          << row.words.front();
  }
}

// Experts of 1536 columns are no whole tiles of 1024, which MaxText's int8 weights have to be: a plan says another tile.
TEST(Plan, OfInt8ExpertsHasTilesThatDivideThem) {
  PlanRequest request = request_for("qwen3-235b-a22b", "tpu-7x", 64);
  request.settings.set(&TrainConfig::quantization, Quantization::int8);
  request.beside = Beside::nothing;
  const MachinePlan plan = costed(request);
  ASSERT_TRUE(plan.recommended);
  EXPECT_EQ(plan.recommended->moe_path, MoePath::ragged);
  EXPECT_EQ(1536 / plan.recommended->mesh.size_of(AxisRole::tensor) % plan.recommended->config.wi_tile_fwd_mlp_dim, 0);
  request.settings.set(&TrainConfig::wi_tile_fwd_mlp_dim, std::int64_t{1024});
  const MachinePlan refused = costed(request);
  EXPECT_TRUE(!refused.recommended || refused.recommended->moe_path != MoePath::ragged) << "it is what was asked for";
}

}  // namespace
}  // namespace shardplan
