// A configuration in Megatron-LM's words: groups read off the rules, flags that exist there, and what has none.
#include <gmock/gmock.h>

#include <algorithm>
#include <arguments/megatron/megatron_run.hpp>
#include <arguments/megatron/parallel_groups.hpp>
#include <fstream>
#include <rules/load_rules.hpp>
#include <set>
#include <tests/unit/reading.hpp>

namespace shardplan {
namespace {

using testing::AllOf;
using testing::AnyOf;
using testing::Contains;
using testing::Each;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::IsSupersetOf;
using testing::Not;
using testing::StartsWith;

std::vector<std::string> flags_of(const MegatronRun& run) {
  std::vector<std::string> words;
  for (const auto& [name, values] : run.flags) {
    words.push_back(name);
    for (const auto& value : values) words.back() += " " + value;
  }
  return words;
}

std::vector<std::string> missing_in(const MegatronRun& run) {
  std::vector<std::string> all;
  for (const auto& [what, why] : run.untranslated) all.push_back(what);
  return all;
}

MegatronRun run_of(const std::string& line) { return megatron_run(read(line)); }

const std::string training = "model_name=mixtral-8x7b compile_topology=v5p-32 ici_fsdp_parallelism=";

TEST(Megatron, GroupsAreWhatTheRulesMakeOfTheAxes) {
  const struct {
    const char* rules;
    const char* axes;
    std::int64_t data, context, tensor, expert, weight_shards;
  } rows[] = {
      {"", "2 ici_expert_parallelism=8", 16, 1, 1, 8, 16},
      {"", "2 ici_tensor_parallelism=8", 2, 1, 8, 1, 2},
      {"", "4 ici_context_parallelism=4", 4, 4, 1, 1, 16},
      {"", "1 ici_data_parallelism=16", 16, 1, 1, 1, 1},
      {"", "4 ici_data_parallelism=4", 16, 1, 1, 1, 4},
      {"custom_mesh_and_rule=cp-as-ep", "4 ici_context_parallelism=2 ici_expert_parallelism=2", 8, 2, 1, 4, 16},
      {"custom_mesh_and_rule=ep-as-cp", "4 ici_expert_parallelism=4", 4, 4, 1, 4, 16},
      {"custom_mesh_and_rule=ep-tp", "4 ici_expert_parallelism=4", 4, 1, 4, 4, 4},
  };
  for (const auto& row : rows) {
    const Configuration c = read(training + row.axes + " " + row.rules);
    const ParallelGroups groups = parallel_groups(c);
    EXPECT_EQ(groups.data, row.data) << row.rules << row.axes;
    EXPECT_EQ(groups.context, row.context) << row.rules << row.axes;
    EXPECT_EQ(groups.tensor, row.tensor) << row.rules << row.axes;
    EXPECT_EQ(groups.expert, row.expert) << row.rules << row.axes;
    EXPECT_EQ(groups.weight_shards, row.weight_shards) << row.rules << row.axes;
    EXPECT_EQ(groups.data * groups.context * groups.tensor * groups.pipeline, 16) << row.rules << row.axes;
    EXPECT_THAT(groups.unused, IsEmpty()) << row.rules << row.axes;
  }
}

TEST(Megatron, SaysFullyShardedDataParallelism) {
  EXPECT_THAT(flags_of(run_of(training + "16")),
              IsSupersetOf({"--use-megatron-fsdp", "--data-parallel-sharding-strategy optim_grads_params"}));
  EXPECT_THAT(flags_of(run_of(training + "16")), Each(Not(StartsWith("--num-distributed"))));
  EXPECT_THAT(flags_of(run_of(training + "4 ici_data_parallelism=4")), Contains("--num-distributed-optimizer-instances 4"));
  EXPECT_THAT(flags_of(run_of(training + "1 ici_data_parallelism=16")), Each(Not(HasSubstr("fsdp"))));
  EXPECT_THAT(flags_of(run_of(training + "1 ici_data_parallelism=16 shard_optimizer_over_data=true")),
              Contains("--use-distributed-optimizer"));
}

/// What Megatron-LM refuses when it starts (validate_args, OptimizerConfig, get_megatron_optimizer).
TEST(Megatron, MuonHasNoFullyShardedData) {
  const std::string muon = "model_name=llama2-7b compile_topology=v5p-32 opt_type=muon ";
  const MegatronRun sharded = run_of(muon + "ici_fsdp_parallelism=16");
  EXPECT_THAT(flags_of(sharded), IsSupersetOf({"--optimizer muon", "--use-distributed-optimizer"}));
  EXPECT_THAT(flags_of(sharded), Each(Not(HasSubstr("fsdp"))));
  EXPECT_THAT(missing_in(sharded), Contains("weights in 16 shards under opt_type=muon"));
  EXPECT_THAT(flags_of(run_of(muon + "ici_fsdp_parallelism=4 ici_data_parallelism=4")),
              Each(Not(StartsWith("--num-distributed-optimizer-instances"))));
  const MegatronRun copied = run_of(muon + "ici_fsdp_parallelism=1 ici_data_parallelism=16");
  EXPECT_THAT(flags_of(copied), Not(Contains("--use-distributed-optimizer")));
  EXPECT_THAT(missing_in(copied), Each(Not(HasSubstr("muon"))));
  const MegatronRun half = run_of(muon + "dtype=float16");
  EXPECT_THAT(flags_of(half), AllOf(Contains("--bf16"), Not(Contains("--fp16"))));
  EXPECT_THAT(missing_in(half), Contains("dtype=float16 under opt_type=muon"));
}

TEST(Megatron, MomentsThatAreSmallOrOnTheHostAreThePreciseOptimizers) {
  const std::string host = "optimizer_memory_host_offload=true ", small = "mu_dtype=bfloat16 ";
  EXPECT_THAT(flags_of(run_of(training + "16 " + host)),
              AllOf(IsSupersetOf({"--use-precision-aware-optimizer", "--optimizer-cpu-offload"}),
                    Each(Not(StartsWith("--exp-avg-dtype")))));
  EXPECT_THAT(flags_of(run_of(training + "16 " + small)),
              AllOf(IsSupersetOf({"--use-precision-aware-optimizer", "--exp-avg-dtype bf16"}),
                    Not(Contains("--use-distributed-optimizer"))))
      << "Megatron-FSDP takes it by itself";
  const MegatronRun sgd = run_of(training + "16 opt_type=sgd " + host + small);
  EXPECT_THAT(flags_of(sgd), Each(Not(AnyOf(HasSubstr("precision-aware"), HasSubstr("offload")))));
  EXPECT_THAT(missing_in(sgd), testing::ElementsAre("optimizer_memory_host_offload=true")) << "it has no moments";
  const MegatronRun muon = run_of("model_name=llama2-7b compile_topology=v5p-32 opt_type=muon " + small);
  EXPECT_THAT(flags_of(muon), Each(Not(HasSubstr("precision-aware"))));
  EXPECT_THAT(missing_in(muon), Contains("mu_dtype=bfloat16"));
}

TEST(Megatron, ThePreciseOptimizerIsADistributedOne) {
  const MegatronRun copies = run_of(training + "1 ici_data_parallelism=16 mu_dtype=bfloat16");
  EXPECT_THAT(flags_of(copies), Contains("--use-distributed-optimizer"));
  EXPECT_THAT(missing_in(copies), Contains("16 copies of the optimizer's state"));
  const MegatronRun asked = run_of(training + "1 ici_data_parallelism=16 mu_dtype=bfloat16 shard_optimizer_over_data=true");
  EXPECT_THAT(flags_of(asked), Contains("--use-distributed-optimizer").Times(1));
  EXPECT_THAT(missing_in(asked), Each(Not(HasSubstr("copies"))));
  const MegatronRun alone = run_of(training + "1 ici_tensor_parallelism=16 mu_dtype=bfloat16");
  EXPECT_THAT(flags_of(alone), Contains("--use-distributed-optimizer"));
  EXPECT_THAT(missing_in(alone), Each(Not(HasSubstr("copies")))) << "nothing to copy it to";
}

TEST(Megatron, TheEnvironmentIsWhatItsSplitStartsWith) {
  const auto of = [](const std::string& axes) { return run_of(training + axes).connections; };
  EXPECT_EQ(of("1 ici_data_parallelism=16"), DeviceConnections::any);
  EXPECT_EQ(of("1 ici_data_parallelism=8 ici_tensor_parallelism=2"), DeviceConnections::one);
  EXPECT_EQ(of("16"), DeviceConnections::more_or_unset);
  EXPECT_EQ(of("8 ici_tensor_parallelism=2"), DeviceConnections::more_or_unset);
  EXPECT_EQ(run_of("model_name=llama2-7b compile_topology=v5p-32 opt_type=muon ici_fsdp_parallelism=8 "
                   "ici_tensor_parallelism=2").connections,
            DeviceConnections::one);
}

TEST(Megatron, RunsOnAProcessADeviceOfEveryNode) {
  const auto on = [](int chips, int parts, const std::string& axes) {
    return megatron_run(read("model_name=llama2-7b hardware=gpu " + axes, {"h100", chips, parts}));
  };
  const MegatronRun several = on(32, 4, "ici_fsdp_parallelism=8 dcn_data_parallelism=4");
  EXPECT_EQ(several.nodes, 4);
  EXPECT_EQ(several.processes_per_node, 8);
  const MegatronRun half = on(8, 2, "ici_fsdp_parallelism=4 dcn_data_parallelism=2");
  EXPECT_EQ(half.nodes, 2) << "half of each node";
  EXPECT_EQ(half.processes_per_node, 4);
}

TEST(Megatron, BiasesAreWhereTheModelHasThem) {
  const auto of = [](const std::string& model) { return run_of("model_name=" + model + " compile_topology=v5p-32"); };
  EXPECT_THAT(flags_of(of("qwen2.5-7b")), IsSupersetOf({"--add-qkv-bias", "--disable-bias-linear"}));
  EXPECT_THAT(flags_of(of("gpt-oss-20b")), AllOf(Contains("--add-qkv-bias"), Not(Contains("--disable-bias-linear"))));
  EXPECT_THAT(flags_of(of("llama2-7b")), AllOf(Contains("--disable-bias-linear"), Not(Contains("--add-qkv-bias"))));
  EXPECT_THAT(missing_in(of("qwen2.5-7b")), Each(Not(HasSubstr("biases"))));
  Configuration one_sided = read_llama("");
  one_sided.model.mlp_bias = true;
  EXPECT_THAT(missing_in(megatron_run(one_sided)), Contains("biases of feed-forwards alone"));
}

TEST(Megatron, BatchesAreSequencesOfTheJobAndOfAShard) {
  const auto flags =
      flags_of(run_of(training + "16 per_device_batch_size=2 gradient_accumulation_steps=4 max_target_length=4096"));
  EXPECT_THAT(flags, IsSupersetOf({"--seq-length 4096", "--global-batch-size 128", "--micro-batch-size 2"}));
}

TEST(Megatron, PathsThroughTheExperts) {
  const std::string experts = training + "2 ici_expert_parallelism=8 ";
  EXPECT_THAT(flags_of(run_of(experts)), IsSupersetOf({"--moe-token-dispatcher-type alltoall", "--moe-grouped-gemm"}));
  EXPECT_THAT(flags_of(run_of(experts + "use_ring_of_experts=true")), Contains("--moe-token-dispatcher-type allgather"));
  EXPECT_THAT(flags_of(run_of(experts + "sparse_matmul=false capacity_factor=1.25")),
              IsSupersetOf({"--moe-expert-capacity-factor 1.25", "--moe-pad-expert-input-to-capacity"}));
}

TEST(Megatron, SaysWhatHasNoEquivalent) {
  EXPECT_THAT(missing_in(run_of(training + "16")), IsEmpty());
  EXPECT_THAT(missing_in(run_of("model_name=gpt3-6b compile_topology=v5p-16")), testing::Not(Contains(HasSubstr("rotary"))));
  EXPECT_THAT(missing_in(run_of(training + "16 remat_policy=save_qkv_proj")), Contains("remat_policy=save_qkv_proj"));
  EXPECT_THAT(missing_in(run_of(training + "16 weight_dtype=bfloat16")), Contains("weight_dtype=bfloat16"));
  EXPECT_THAT(missing_in(run_of(
                  "model_name=llama2-7b compile_topology=v5p-16 ici_pipeline_parallelism=2 ici_fsdp_parallelism=4")),
              Contains("the circular pipeline"));
  EXPECT_THAT(missing_in(run_of("model_name=gemma3-4b compile_topology=v5p-16")), Contains(HasSubstr("windows of 1024")));
}

std::set<std::string> flags_of_megatron() {
  std::ifstream file(std::string(TEST_DATA) + "/arguments/megatron_flags.txt");
  std::set<std::string> flags;
  for (std::string line; std::getline(file, line);) flags.insert(line);
  return flags;
}

TEST(Megatron, EveryFlagExistsThere) {
  const auto known = flags_of_megatron();
  ASSERT_GT(known.size(), 500U);
  std::set<std::string> said;
  for (const std::string& line :
       {training + "16",
        training + "2 ici_expert_parallelism=8 sparse_matmul=false capacity_factor=1 remat_policy=minimal",
        training +
            "2 ici_expert_parallelism=4 ici_tensor_parallelism=2 optimizer_memory_host_offload=true mu_dtype=bfloat16",
        training + "2 ici_data_parallelism=2 ici_context_parallelism=4 shard_optimizer_over_data=true",
        std::string("model_name=deepseek3-671b compile_topology=v5p-512 opt_type=muon"),
        std::string("model_name=qwen3-30b-a3b compile_topology=v5p-32"),
        std::string("model_name=qwen3-next-80b-a3b compile_topology=v5p-32"),
        std::string("model_name=deepseek3-671b compile_topology=v5p-512 mtp_num_layers=1"),
        std::string("model_name=deepseek-custom compile_topology=v5p-512"),
        std::string("model_name=gpt-oss-20b compile_topology=v5p-32"),
        std::string("model_name=llama4-17b-128e compile_topology=v5p-512"),
        std::string("model_name=llama2-7b compile_topology=v5p-16 ici_pipeline_parallelism=2 ici_fsdp_parallelism=4 "
                    "num_layers_per_pipeline_stage=4")})
    for (const auto& flag : run_of(line).flags) said.insert(flag.name);
  EXPECT_GT(said.size(), 60U);
  for (const auto& flag : said) EXPECT_TRUE(known.contains(flag)) << flag;
}

}  // namespace
}  // namespace shardplan
