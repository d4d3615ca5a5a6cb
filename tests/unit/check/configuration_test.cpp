// One configuration: which findings, how severe, what the fix spares.
#include <gmock/gmock.h>

#include <tests/unit/check/checking.hpp>

namespace shardplan {
namespace {

const std::string dropping = " sparse_matmul=False capacity_factor=1.25";
const std::string expert8 =
    "model_name=mixtral-8x7b compile_topology=v5p-16 ici_fsdp_parallelism=1 ici_expert_parallelism=8" + dropping;
const std::string expert4_fsdp2 =
    "model_name=mixtral-8x7b compile_topology=v5p-16 ici_fsdp_parallelism=2 ici_expert_parallelism=4" + dropping;
const std::string expert4_context2 = "model_name=mixtral-8x7b compile_topology=v5p-16 ici_fsdp_parallelism=1 "
                                     "ici_context_parallelism=2 ici_expert_parallelism=4" + dropping;

const std::string off_dispatch =
    " logical_axis_rules=[['activation_batch_moe',['data','fsdp']],['activation_exp',[]]]";

struct Row {
  std::string arguments;
  FindingId id;
  Severity severity;
  std::string axis;
};

class BitesOnConfigurations : public testing::TestWithParam<Row> {};

TEST_P(BitesOnConfigurations, IsFound) {
  const auto& [arguments, id, severity, axis] = GetParam();
  const auto findings = checked(arguments).evaluation.findings;
  ASSERT_THAT(ids_of(findings), testing::Contains(name_of(id)));
  EXPECT_EQ(finding_of(findings, id).severity, severity);
  EXPECT_EQ(join_axes(finding_of(findings, id).axes), axis);
}

const std::string llama = "model_name=llama2-7b compile_topology=v5p-16";
const std::string deepseek = "model_name=deepseek2-16b compile_topology=v5p-16";
const std::string fsdp2_context4 = " ici_fsdp_parallelism=2 ici_context_parallelism=4";

INSTANTIATE_TEST_SUITE_P(
    Table, BitesOnConfigurations,
    testing::Values(
        Row{expert8, FindingId::expert_axis_stolen, Severity::error, "expert"},
        Row{expert8 + " custom_mesh_and_rule=ep-as-dp", FindingId::expert_axis_stolen, Severity::error, "expert"},
        Row{expert4_fsdp2 + " moe_dispatch_no_expert_sharding=True per_device_batch_size=2",
            FindingId::expert_output_not_peeled, Severity::warning, "expert"},
        Row{expert4_context2 + " custom_mesh_and_rule=cp-as-ep", FindingId::missing_all_to_all, Severity::warning,
            "context+expert"},
        Row{expert8 + off_dispatch, FindingId::missing_all_to_all, Severity::error, "expert"},
        Row{"model_name=deepseek3-671b-2dfsdp compile_topology=v5p-512 ici_expert_parallelism=8",
            FindingId::missing_all_to_all, Severity::note, "expert"},
        Row{deepseek + " ici_fsdp_parallelism=2 ici_expert_parallelism=4", FindingId::worst_case_rows, Severity::note,
            "expert"},
        Row{deepseek + " remat_policy=minimal per_device_batch_size=2", FindingId::minimal_recomputes_wi_1,
            Severity::note, ""},
        Row{"model_name=mixtral-8x7b compile_topology=v5p-16 ici_context_parallelism=4 ici_tensor_parallelism=2" + dropping,
            FindingId::expert_features_split_apart, Severity::warning, "context+tensor"},
        Row{deepseek + fsdp2_context4, FindingId::expanded_key_value_gathered, Severity::note, "context"},
        Row{deepseek + fsdp2_context4 + " context_parallel_load_balance=false", FindingId::context_unbalanced,
            Severity::warning, "context"},
        Row{deepseek + fsdp2_context4 + " shard_mode=explicit", FindingId::context_lost_in_explicit_mode,
            Severity::warning, "context"},
        Row{llama + fsdp2_context4 + " custom_mesh_and_rule=cp-as-ep", FindingId::sequence_gathered_for_attention,
            Severity::warning, "context"},
        Row{llama + fsdp2_context4 + " custom_mesh_and_rule=pipeline-large-moe", FindingId::weights_not_sharded,
            Severity::error, "context"},
        Row{llama + fsdp2_context4 + " custom_mesh_and_rule=cp-as-ep num_vocab_tiling=4",
            FindingId::logits_sequence_gathered, Severity::warning, "context"},
        Row{"model_name=mixtral-8x7b compile_topology=v5p-16 custom_mesh_and_rule=ep-tp ici_expert_parallelism=4",
            FindingId::expert_rows_returned_whole, Severity::error, "expert"},
        Row{llama + " custom_mesh_and_rule=pure-fsdp", FindingId::custom_rules_drop_model_rules, Severity::note, ""},
        Row{"model_name=deepseek3-671b-2dfsdp compile_topology=v5p-512 custom_mesh_and_rule=pure-fsdp",
            FindingId::custom_rules_drop_model_rules, Severity::warning, ""},
        Row{llama + " mlpwi=device", FindingId::places_ignored, Severity::warning, ""},
        Row{llama + " custom_mesh=hybrid_ring_64x4", FindingId::custom_mesh_ignored, Severity::warning, ""},
        Row{llama + " custom_mesh_and_rule=pure-fsdp ici_tensor_parallelism=2", FindingId::axis_ignored,
            Severity::warning, "tensor"},
        Row{llama + " ici_pipeline_parallelism=2 pipeline_fsdp_ag_once=True", FindingId::layer_stack_reshard,
            Severity::warning, "stage"},
        Row{llama + " ici_data_parallelism=2 shard_optimizer_over_data=True", FindingId::zero1_whole_weights,
            Severity::note, "data"},
        Row{llama + " ici_pipeline_parallelism=2 shard_mode=explicit", FindingId::explicit_pipeline, Severity::warning,
            "stage"},
        Row{llama + " ici_data_parallelism=2 shard_optimizer_over_data=True", FindingId::optimizer_shards_permuted,
            Severity::note, "data"},
        Row{expert8, FindingId::memory_exceeded, Severity::warning, ""}));

// The rule that keeps the axis for experts, and the flag: then tokens are exchanged again.
TEST(CheckConfiguration, OffersRulesOfTheDispatchWhereBothLackTheAxis) {
  const CheckedConfiguration both = checked(expert8 + off_dispatch);
  const Finding& missing = finding_of(both.evaluation.findings, FindingId::missing_all_to_all);
  EXPECT_THAT(missing.fix, testing::HasSubstr("add 'expert' to rule activation_exp: ['activation_exp', ['expert']]"));
  EXPECT_THAT(missing.fix, testing::EndsWith("moe_dispatch_no_expert_sharding=True"));
  ASSERT_TRUE(missing.cost);
  EXPECT_GT(missing.cost->step.value, 0) << "what the fix spares";
}

// Of DeepSeek4's tables of experts by token every device has the whole, and MaxText doesn't count them.
TEST(CheckConfiguration, CountsTrainedWeightsAlone) {
  const std::string run = "model_name=deepseek4-tiny compile_topology=v5p-16 ici_fsdp_parallelism=8";
  EXPECT_THAT(ids_of(checked(run).evaluation.findings),
              testing::Not(testing::Contains(name_of(FindingId::weights_not_sharded))));
}

// Of a ring the buffer has room for all devices' rows, and MaxText takes a factor there only with another sort.
TEST(CheckConfiguration, OffersTheFactorOfTheRowsWhereItRuns) {
  const std::string run = "model_name=mixtral-8x7b compile_topology=v5p-16 ici_fsdp_parallelism=1 ici_expert_parallelism=8 ";
  const auto fix_of = [](const std::string& arguments) {
    return finding_of(checked(arguments).evaluation.findings, FindingId::worst_case_rows).fix;
  };
  EXPECT_EQ(fix_of(run), "ragged_buffer_factor (drops tokens beyond it)");
  EXPECT_EQ(fix_of(run + "use_ring_of_experts=True"),
            "use_ring_of_experts=False with ragged_buffer_factor (drops tokens beyond it)");
  EXPECT_THAT(ids_of(checked(run + "ragged_buffer_factor=1.5").evaluation.findings),
              testing::Not(testing::Contains(name_of(FindingId::worst_case_rows))));
}

// AMD's run of Mixtral: the same rules cost nothing with XLA's default flags (docs/check.md).
TEST(CheckConfiguration, WeighsAFindingUnderOtherFlagsToo) {
  const std::string run = "model_name=mixtral-8x7b ici_fsdp_parallelism=1 ici_expert_parallelism=8 hardware=gpu "
                          "per_device_batch_size=11 max_target_length=4096 remat_policy=minimal capacity_factor=1 "
                          "attention=cudnn_flash_te packing=False sparse_matmul=False weight_dtype=bfloat16";
  const Finding plain = finding_of(checked(run, {.hardware = "mi355x", .chips = 8, .slices = {}}).evaluation.findings,
                                   FindingId::expert_axis_stolen);
  ASSERT_TRUE(plain.cost);
  ASSERT_FALSE(plain.under_flags.empty());
  const CostUnderFlags& combined = plain.under_flags.front();
  EXPECT_THAT(combined.flags, testing::Contains("--xla_gpu_all_gather_combine_threshold_bytes=8589934592"));
  EXPECT_GT((combined.step - combined.fixed_step) / combined.step, 0.1);
  EXPECT_LT(plain.cost->step * 5, combined.step - combined.fixed_step) << "most of the gathers hide";
  EXPECT_THAT(plain.message, testing::HasSubstr("with the XLA flags of AMD's Mixtral-8x7B on 8 MI355X"));
}

// The severity and the sentence follow from both evaluations.
TEST(CheckConfiguration, SaysWhatTheFlagSpares) {
  const auto [evaluation, fixed] = checked(expert8);
  const Finding stolen = finding_of(evaluation.findings, FindingId::expert_axis_stolen);
  EXPECT_THAT(stolen.message, testing::HasSubstr("expert double-mapping"));
  EXPECT_EQ(stolen.fix, "moe_dispatch_no_expert_sharding=True");
  EXPECT_THAT(logical_names(stolen.rules), testing::ElementsAre("activation_batch_moe", "activation_exp"));
  ASSERT_TRUE(stolen.cost && fixed);
  EXPECT_GT(stolen.cost->bytes.value, 0);
  EXPECT_GT(stolen.cost->collectives.value, 0);
  EXPECT_TRUE(fixed->config.moe_dispatch_no_expert_sharding);
  EXPECT_DOUBLE_EQ(stolen.cost->step.value, (evaluation.time.step() - fixed->time.step()).value);
}

TEST(CheckConfiguration, OffersTheSparsePathWhereTheFlagIsNotEnough) {
  const std::string large = expert4_fsdp2 + " per_device_batch_size=8 compile_xla_flags=none";
  const Finding stolen = finding_of(checked(large).evaluation.findings, FindingId::expert_axis_stolen);
  EXPECT_EQ(stolen.fix, "sparse_matmul=True");
}

TEST(CheckConfiguration, HasNothingOnTheDispatchOnceTheFlagIsOn) {
  const auto findings = checked(expert8 + " moe_dispatch_no_expert_sharding=True").evaluation.findings;
  EXPECT_THAT(ids_of(findings), testing::Not(testing::Contains("expert-axis-stolen")));
  EXPECT_THAT(ids_of(findings), testing::Not(testing::Contains("expert-output-not-peeled")));
}

TEST(CheckConfiguration, MakesANoteOfWhatCostsLessThanItsFix) {
  const Finding stolen = finding_of(checked("model_name=deepseek3-tiny compile_topology=v5p-16 ici_fsdp_parallelism=1 "
                                            "ici_expert_parallelism=8" +
                                            dropping)
                                        .evaluation.findings,
                                    FindingId::expert_axis_stolen);
  EXPECT_EQ(stolen.id, FindingId::expert_axis_stolen);
  EXPECT_EQ(stolen.severity, Severity::note);
  EXPECT_THAT(stolen.message, testing::HasSubstr("costs more than it spares"));
}

TEST(CheckConfiguration, TellsAReplicatedKernelOnGpus) {
  const MachineChoice gpus{"mi355x", 8, std::nullopt};
  const auto with = [&](const std::string& kernel) {
    return ids_of(
        checked("model_name=llama3.1-8b per_device_batch_size=4 attention=" + kernel, gpus).evaluation.findings);
  };
  EXPECT_THAT(with("flash"), testing::Contains("attention-replicated"));
  EXPECT_THAT(with("cudnn_flash_te"), testing::Not(testing::Contains("attention-replicated")));
}

TEST(CheckConfiguration, RefusesUnderTheIdOfTheConstraint) {
  const auto findings =
      checked("model_name=mixtral-8x7b compile_topology=v5p-16 ici_tensor_sequence_parallelism=2").evaluation.findings;
  EXPECT_THAT(ids_of(findings), testing::Contains("sparse-tensor-sequence"));
  EXPECT_EQ(finding_of(findings, FindingId::refused).severity, Severity::error);
}

// Alone context splits features of weights, and tokens split none; sorted rows are gathered.
TEST(CheckConfiguration, FeaturesSplitApartAreOfTheDroppingPathUnderBothAxes) {
  const std::string mixtral = "model_name=mixtral-8x7b compile_topology=v5p-16";
  for (const std::string& quiet :
       {" ici_fsdp_parallelism=2 ici_context_parallelism=4" + dropping,
        " ici_fsdp_parallelism=4 ici_tensor_parallelism=2" + dropping,
        std::string(" ici_context_parallelism=4 ici_tensor_parallelism=2")})
    EXPECT_THAT(ids_of(checked(mixtral + quiet).evaluation.findings),
                testing::Not(testing::Contains(name_of(FindingId::expert_features_split_apart))))
        << quiet;
}

TEST(CheckConfiguration, RefusesWhatDoesNotDivideAsAFinding) {
  const auto findings =
      checked(
          "model_name=llama2-7b compile_topology=v5p-16 ici_context_parallelism=8 max_target_length=2049 "
          "ici_fsdp_parallelism=1")
          .evaluation.findings;
  const Finding refused = finding_of(findings, FindingId::indivisible_dim);
  EXPECT_EQ(refused.severity, Severity::error);
  EXPECT_THAT(refused.message, testing::HasSubstr("2,049"));
}

}  // namespace
}  // namespace shardplan
