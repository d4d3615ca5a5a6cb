// An axis taken out of one rule of activations: what was split is computed and kept by every device of the axis.
#include <gmock/gmock.h>

#include <planner/evaluate/evaluate.hpp>
#include <tests/unit/check/checking.hpp>

namespace shardplan {
namespace {

struct Edit {
  std::string run;
  std::string logical, axis;  ///< taken out of the rule
  MachineChoice machine = {};
};

Configuration edited(const Edit& edit) {
  Configuration c = read(edit.run, edit.machine);
  for (Rule& rule : c.rules.rules)
    if (rule.logical == edit.logical) std::erase(rule.axes, edit.axis);
  return c;
}

std::vector<Finding> found_in(const Configuration& configuration) {
  return check_configuration(configuration).evaluation.findings;
}

const std::string llama = "model_name=llama3-8b compile_topology=v5p-16 ";
const std::string mixtral = "model_name=mixtral-8x7b compile_topology=v5p-16 sparse_matmul=true ";
const std::string deepseek = "model_name=deepseek2-16b compile_topology=v5p-16 sparse_matmul=true ";
const std::string no_fsdp = "ici_fsdp_parallelism=1 ";
const std::string dispatched = "model_name=mixtral-8x7b hardware=gpu sparse_matmul=false capacity_factor=1.25 "
                               "moe_dispatch_no_expert_sharding=true attention=cudnn_flash_te packing=false ";

class EditedRules : public testing::TestWithParam<Edit> {};
INSTANTIATE_TEST_SUITE_P(
    Table, EditedRules,
    testing::Values(
        Edit{llama + "ici_fsdp_parallelism=8", "activation_batch", "fsdp"},
        Edit{mixtral + no_fsdp + "ici_expert_parallelism=8", "activation_batch", "expert"},
        Edit{llama + no_fsdp + "ici_tensor_parallelism=8", "activation_mlp", "tensor"},
        Edit{llama + "ici_fsdp_parallelism=4 ici_tensor_parallelism=2", "activation_mlp", "tensor"},
        Edit{llama + "ici_fsdp_parallelism=4 ici_context_parallelism=2", "activation_length", "context"},
        Edit{deepseek + no_fsdp + "ici_context_parallelism=2 ici_expert_parallelism=4", "activation_norm_length",
             "context"},
        Edit{dispatched + no_fsdp + "ici_expert_parallelism=8", "activation_batch_moe", "expert", {"mi355x", 8, {}}}));

TEST_P(EditedRules, AreErrorsAtTheRuleThatLostTheAxis) {
  const auto& [run, logical, axis, machine] = GetParam();
  const Finding finding = finding_of(found_in(edited(GetParam())), FindingId::activations_replicated);
  ASSERT_THAT(finding.rules, testing::SizeIs(1)) << "not found";
  EXPECT_EQ(finding.rules.front().logical, logical);
  EXPECT_EQ(finding.severity, Severity::error);
  EXPECT_THAT(finding.axes, testing::ElementsAre(axis));
  EXPECT_THAT(finding.fix, testing::HasSubstr("add '" + axis + "' to rule " + logical + ": ['" + logical));
  const Seconds whole = evaluate_to_show(read(run, machine)).time.step();
  const Seconds replicated = evaluate_to_show(edited(GetParam())).time.step();
  EXPECT_NEAR(finding.cost->step.value, (replicated - whole).value, 0.01 * whole.value) << "what the edit cost";
}

TEST_P(EditedRules, WereCleanBefore) {
  EXPECT_THAT(ids_of(found_in(read(GetParam().run, GetParam().machine))),
              testing::Not(testing::Contains(name_of(FindingId::activations_replicated))));
}

TEST(ReplicatedActivations, AreSaidOfARuleThatIsGone) {
  Configuration c = read(llama + "ici_fsdp_parallelism=8");
  std::erase_if(c.rules.rules, [](const Rule& rule) { return rule.logical == "activation_batch"; });
  const Finding finding = finding_of(found_in(c), FindingId::activations_replicated);
  EXPECT_EQ(finding.severity, Severity::error);
  EXPECT_EQ(finding.fix, "add ['activation_batch', ['fsdp']] to the rules");
}

// Two sequences in all: four devices have no part of one each.
TEST(ReplicatedActivations, AreNoFindingWhereTheAxisDoesNotDivide) {
  const Edit edit{llama + "ici_fsdp_parallelism=8 per_device_batch_size=0.25", "activation_batch", "fsdp"};
  EXPECT_THAT(ids_of(found_in(edited(edit))),
              testing::Not(testing::Contains(name_of(FindingId::activations_replicated))));
}

// A joint projection reads the normed state itself: its sequence is gathered all the same, which has a finding of its own.
TEST(ReplicatedActivations, AreSaidOnce) {
  const std::string run = "model_name=gpt3-175b compile_topology=v5p-128 ici_fsdp_parallelism=16 "
                          "ici_context_parallelism=4 custom_mesh_and_rule=cp-as-ep";
  const std::vector<std::string> ids = ids_of(found_in(read(run)));
  EXPECT_THAT(ids, testing::Contains(name_of(FindingId::sequence_gathered_for_attention)));
  EXPECT_THAT(ids, testing::Not(testing::Contains(name_of(FindingId::activations_replicated))));
}

}  // namespace
}  // namespace shardplan
