// A rule of activations that is gone, whose axis another dim's rule takes: what was split along heads is exchanged.
#include <gmock/gmock.h>

#include <planner/evaluate/evaluate.hpp>
#include <tests/unit/check/checking.hpp>

namespace shardplan {
namespace {

Configuration splitting_heads() {
  return read("model_name=llama2-7b compile_topology=v5p-16 ici_fsdp_parallelism=4 ici_tensor_parallelism=2 "
              "per_device_batch_size=4");
}

std::vector<Finding> findings_of(const Configuration& c) { return check_configuration(c).evaluation.findings; }

TEST(ReshardedActivations, AreAnErrorWorthWhatTheEditCost) {
  Configuration c = splitting_heads();
  std::erase_if(c.rules.rules, [](const Rule& rule) { return rule.logical == "activation_kv_heads"; });
  const Finding finding = finding_of(findings_of(c), FindingId::activations_resharded);
  ASSERT_THAT(finding.rules, testing::SizeIs(2)) << "not found";
  EXPECT_EQ(finding.severity, Severity::error);
  EXPECT_EQ(finding.rules.front(), (Rule{"activation_kv_heads", {}}));
  EXPECT_EQ(finding.rules.back().logical, "activation_kv_head_dim") << "the rule that takes the axis";
  EXPECT_THAT(finding.axes, testing::ElementsAre("tensor"));
  EXPECT_EQ(finding.fix, "add ['activation_kv_heads', ['tensor']] to the rules, in front of that of activation_kv_head_dim");
  const Seconds before = evaluate_to_show(splitting_heads()).time.step(), now = evaluate_to_show(c).time.step();
  EXPECT_NEAR(finding.cost->step.value, (now - before).value, 0.01 * before.value);
}

/// Of rules that name one axis the first takes it.
TEST(ReshardedActivations, AreSaidOfARuleThatComesTooLate) {
  Configuration c = splitting_heads();
  auto& rules = c.rules.rules;
  const auto heads = std::find_if(rules.begin(), rules.end(),
                                  [](const Rule& rule) { return rule.logical == "activation_kv_heads"; });
  ASSERT_NE(heads, rules.end());
  std::rotate(heads, heads + 1, rules.end());
  const Finding finding = finding_of(findings_of(c), FindingId::activations_resharded);
  EXPECT_EQ(finding.fix, "move rule activation_kv_heads in front of that of activation_kv_head_dim");
  const Seconds before = evaluate_to_show(splitting_heads()).time.step(), now = evaluate_to_show(c).time.step();
  EXPECT_NEAR(finding.cost->step.value, (now - before).value, 0.01 * before.value);
}

TEST(ReshardedActivations, AreNoneOfMaxTextsOwnRules) {
  EXPECT_THAT(ids_of(findings_of(splitting_heads())),
              testing::Not(testing::Contains(name_of(FindingId::activations_resharded))));
}

}  // namespace
}  // namespace shardplan
