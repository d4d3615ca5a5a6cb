// Rule sets over models and meshes.
#include <gmock/gmock.h>

#include <planner/check/check_request.hpp>
#include <shardplan/error.hpp>
#include <tests/unit/check/checking.hpp>

namespace shardplan {
namespace {

CheckWords request_for(const std::string& rules) {
  CheckWords request;
  request.rules = rules;
  return request;
}

const CheckedFinding* entry_of(const CheckAnswer& answer, FindingId id) {
  for (const auto& entry : answer.findings)
    if (entry.finding.id == id) return &entry;
  return nullptr;
}

TEST(Check, FindsTheStolenAxisOverAllModelsAndMeshes) {
  const CheckAnswer answer = check(read_check(request_for("default")));
  EXPECT_TRUE(answer.is_regression());
  EXPECT_GT(answer.models.size(), 40U);
  const CheckedFinding* stolen = entry_of(answer, FindingId::expert_axis_stolen);
  ASSERT_NE(stolen, nullptr);
  EXPECT_THAT(stolen->bites.models, testing::Contains("mixtral-8x7b"));
  EXPECT_THAT(stolen->bites.meshes, testing::Contains("expert=8"));
  EXPECT_THAT(stolen->bites.meshes, testing::Not(testing::Contains("fsdp=8")));
  EXPECT_THAT(stolen->bites.paths, testing::ElementsAre(MoePath::dropping));
  EXPECT_LT(answer.findings.size(), 12U) << "grouped, not one line a configuration";
}

TEST(Check, PutsErrorsFirst) {
  const CheckAnswer answer = check(read_check(request_for("pipeline-large-moe")));
  for (std::size_t i = 1; i < answer.findings.size(); ++i)
    EXPECT_GE(answer.findings[i - 1].finding.severity, answer.findings[i].finding.severity);
}

TEST(Check, ChecksBothPathsOfOneModelAndMesh) {
  CheckWords request = request_for("default");
  request.model = "mixtral-8x7b";
  request.mesh = "expert=8";
  const CheckAnswer answer = check(read_check(request));
  EXPECT_EQ(answer.cases, 2);
  EXPECT_TRUE(answer.is_regression());
  ASSERT_TRUE(answer.found && answer.expected);
  EXPECT_EQ(answer.found->moe_path, MoePath::dropping);
  request.key_values = {"moe_dispatch_no_expert_sharding=True"};
  EXPECT_FALSE(check(read_check(request)).is_regression());
  request.key_values = {"sparse_matmul=True"};
  EXPECT_EQ(check(read_check(request)).cases, 1);
}

TEST(Check, TakesAMeshFromArguments) {
  CheckWords request = request_for("default");
  request.model = "mixtral-8x7b";
  request.key_values = {"ici_expert_parallelism=4", "ici_fsdp_parallelism=2", "sparse_matmul=False"};
  EXPECT_THAT(check(read_check(request)).meshes, testing::ElementsAre("fsdp=2,expert=4"));
}

TEST(Check, WarnsOfAKernelThatNobodyChose) {
  CheckWords request = request_for("default");
  request.model = "llama3.1-8b";
  request.mesh = "fsdp=8";
  request.machine.hardware = "mi355x";
  const CheckAnswer by_default = check(read_check(request));
  ASSERT_NE(entry_of(by_default, FindingId::attention_replicated), nullptr);
  EXPECT_FALSE(by_default.is_regression());
  request.model.reset();
  EXPECT_FALSE(check(read_check(request)).is_regression()) << "nor over all models";
  request.model = "llama3.1-8b";
  request.key_values = {"attention=flash"};
  EXPECT_TRUE(check(read_check(request)).is_regression());
}

/// Every model on the usual meshes of a GPU too, with the kernel that MaxText's GPU recipes choose.
TEST(Check, SweepsMeshesOnGpus) {
  for (const char* hardware : {"h100", "mi355x"}) {
    CheckWords request = request_for("default");
    request.model = "llama3-8b";
    request.machine.hardware = hardware;
    const CheckAnswer answer = check(read_check(request));
    EXPECT_THAT(answer.meshes, testing::IsSupersetOf({"fsdp=8", "fsdp=64", "fsdp=256"})) << hardware;
    EXPECT_EQ(entry_of(answer, FindingId::attention_replicated), nullptr) << hardware;
  }
}

/// Also where memory would do: MaxText refuses to start whatever there is of it.
TEST(Check, SaysThatWeightsLieWholeOnEveryMesh) {
  CheckWords request = request_for("default");
  request.model = "llama3.1-8b";
  request.key_values = {"logical_axis_rules=[['mlp',[]]]"};
  const CheckAnswer answer = check(read_check(request));
  const CheckedFinding* whole = entry_of(answer, FindingId::weights_not_sharded);
  ASSERT_NE(whole, nullptr);
  EXPECT_THAT(whole->bites.meshes, testing::IsSupersetOf({"fsdp=2,tensor=4", "fsdp=16,tensor=4", "fsdp=64,tensor=4"}));
  EXPECT_TRUE(answer.is_regression());
}

/// Its mask takes one kernel, which nobody chose.
TEST(Check, GivesAModelWithAnIndexerItsKernel) {
  CheckWords request = request_for("default");
  request.model = "deepseek3.2-671b";
  EXPECT_THAT(check(read_check(request)).models, testing::ElementsAre("deepseek3.2-671b"));
}

CheckWords over_nodes(const std::string& mesh) {
  CheckWords request = request_for("default");
  request.model = "llama3-8b";
  request.mesh = mesh;
  request.machine.hardware = "h100";
  request.machine.chips = 64;
  return request;
}

/// Steps over another number of slices are no news of the rules.
TEST(Check, SaysUnderWhichSettings) {
  CheckWords request = over_nodes("data=2,fsdp=32");
  request.key_values = {"remat_policy=minimal"};
  EXPECT_THAT(check(read_check(request)).arguments,
              testing::ElementsAre("remat_policy=minimal", "compile_topology_num_slices=8"));
}

TEST(Check, CostsEveryCase) {
  CheckWords request = request_for("default");
  request.model = "mixtral-8x7b";
  const CheckAnswer answer = check(read_check(request));
  ASSERT_EQ(static_cast<std::int64_t>(answer.costed.size()), answer.cases);
  for (const CheckedCase& one : answer.costed) {
    EXPECT_GT(one.step.value, 0) << one.place.mesh;
    EXPECT_GT(one.moved.value, 0) << one.place.mesh;
    EXPECT_GT(one.tokens, 0) << one.place.mesh;
  }
}

TEST(Check, LaysAMeshOverNodes) {
  for (const char* mesh : {"data=2,fsdp=32", "fsdp=64"})
    EXPECT_THAT(check(read_check(over_nodes(mesh))).meshes, testing::ElementsAre(mesh));
}

TEST(Check, SaysWhyNothingIsLeftToCheck) {
  CheckWords request = request_for("default");
  request.model = "llama3-8b";
  request.key_values = {"attention=cudnn_flash_te"};  // on TPUs
  EXPECT_THAT([&] { check(read_check(request)); },
              testing::ThrowsMessage<InputError>(testing::HasSubstr("llama3-8b: attention=cudnn_flash_te")));
}

TEST(Check, PointsAtTheLinesOfAFile) {
  CheckWords request = request_for(TEST_DATA "/check/batches_disagree.yml");
  request.model = "llama3-8b";
  request.mesh = "fsdp=4,expert=2";
  const CheckAnswer answer = check(read_check(request));
  const CheckedFinding* gathered = entry_of(answer, FindingId::unexpected_all_gather);
  ASSERT_NE(gathered, nullptr);
  EXPECT_EQ(gathered->finding.severity, Severity::error);
  ASSERT_EQ(gathered->rules.size(), 3U);
  EXPECT_EQ(gathered->rules[1].rule.logical, "activation_batch_attn");
  EXPECT_EQ(gathered->rules[1].line, 7);
  for (const FindingId id : {FindingId::rule_unreachable, FindingId::rule_name_unknown, FindingId::rule_axis_unknown})
    EXPECT_NE(entry_of(answer, id), nullptr) << name_of(id);
}

TEST(Check, RefusesWhatItCanNotCheck) {
  CheckWords request = request_for("default");
  request.model = "mixtral-8x7b";
  request.mesh = "expart=8";
  EXPECT_THROW(check(read_check(request)), InputError);
  request.mesh = "expert=8";
  request.machine.chips = 16;
  EXPECT_THROW(check(read_check(request)), InputError);
}

}  // namespace
}  // namespace shardplan
