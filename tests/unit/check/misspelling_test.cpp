// A misspelt name in a rule: an error where the rule was to do something, a warning where it was not.
#include <gmock/gmock.h>

#include <fstream>
#include <models/load_model.hpp>
#include <models/programs/train_program.hpp>
#include <planner/check/check_request.hpp>
#include <rules/load_rules.hpp>
#include <rules/logical_axes.hpp>

#include "../own_folder.hpp"

namespace shardplan {
namespace {

using testing::HasSubstr;

/// MaxText's default rules with one passage replaced.
std::string edited(const std::string& from, const std::string& to) {
  std::string text = rules_yaml("default");
  const auto at = text.find(from);
  if (at == std::string::npos) throw std::logic_error("default has no " + from);
  text.replace(at, from.size(), to);
  const std::string path = own_folder() + "edited.yml";
  std::ofstream(path) << text;
  return path;
}

CheckAnswer checked(const std::string& rules, const std::string& mesh, const std::string& model = "llama3-8b",
                    const std::vector<std::string>& settings = {}) {
  CheckWords request;
  request.rules = rules;
  request.model = model;
  request.mesh = mesh;
  request.key_values = settings;
  return check(read_check(request));
}

const CheckedFinding* entry_of(const CheckAnswer& answer, FindingId id) {
  const auto found = std::find_if(answer.findings.begin(), answer.findings.end(),
                                  [&](const CheckedFinding& one) { return one.finding.id == id; });
  return found == answer.findings.end() ? nullptr : &*found;
}

TEST(Misspelling, OfALogicalAxisIsAnErrorWhereItCosts) {
  const std::string rules = edited("['activation_mlp', ", "['activation_mpl', ");
  const CheckAnswer answer = checked(rules, "fsdp=2,tensor=4");
  const CheckedFinding* found = entry_of(answer, FindingId::rule_name_unknown);
  ASSERT_NE(found, nullptr);
  EXPECT_EQ(found->finding.severity, Severity::error);
  EXPECT_TRUE(answer.is_regression());
  EXPECT_THAT(found->finding.message, HasSubstr("no tensor of MaxText has the logical axis 'activation_mpl'"));
  EXPECT_THAT(found->finding.fix, HasSubstr("'activation_mlp'"));
  ASSERT_TRUE(found->finding.cost);
  EXPECT_GT(found->finding.cost->step.value, 0);
  EXPECT_GT(found->rules.front().line, 0);
  const auto of_it = [](const CheckedFinding& one) { return one.finding.id == FindingId::rule_name_unknown; };
  EXPECT_EQ(std::count_if(answer.findings.begin(), answer.findings.end(), of_it), 1) << "said once";
}

TEST(Misspelling, OfARuleThatSplitsNothingHereIsAWarning) {
  const CheckAnswer answer = checked(edited("['activation_mlp', ", "['activation_mpl', "), "fsdp=8");
  const CheckedFinding* found = entry_of(answer, FindingId::rule_name_unknown);
  ASSERT_NE(found, nullptr);
  EXPECT_EQ(found->finding.severity, Severity::warning);
  EXPECT_FALSE(answer.is_regression());
}

/// A name that goes on from another, activation_batch, is costed against the one that was meant.
TEST(Misspelling, OfALongNameIsNotTakenForItsBeginning) {
  const CheckAnswer answer = checked(edited("['activation_batch_moe', ", "['activation_batch_mooe', "), "fsdp=4,expert=2",
                                     "mixtral-8x7b", {"sparse_matmul=false", "capacity_factor=1.25"});
  const CheckedFinding* found = entry_of(answer, FindingId::rule_name_unknown);
  ASSERT_NE(found, nullptr);
  EXPECT_EQ(found->finding.severity, Severity::error);
  EXPECT_EQ(found->finding.fix, "name it 'activation_batch_moe', the nearest");
}

/// What MaxText refuses because of it is a finding of the layout, and no second one of the run.
TEST(Misspelling, ThatLeavesWeightsWholeSaysSoOnce) {
  const CheckAnswer answer = checked(edited("['embed_vocab', ", "['embed_voca', "), "fsdp=8");
  const auto of_weights = [](const CheckedFinding& one) { return one.finding.id == FindingId::weights_not_sharded; };
  EXPECT_EQ(std::count_if(answer.findings.begin(), answer.findings.end(), of_weights), 1);
  ASSERT_NE(entry_of(answer, FindingId::rule_name_unknown), nullptr);
  EXPECT_EQ(entry_of(answer, FindingId::rule_name_unknown)->finding.fix, "name it 'embed_vocab', the nearest");
}

TEST(Misspelling, OfAMeshAxisIsAnErrorWhereItCosts) {
  const CheckAnswer answer =
      checked(edited("['mlp', ['fsdp_transpose', 'tensor'", "['mlp', ['fsdp_transpose', 'tensr'"), "fsdp=2,tensor=4");
  const CheckedFinding* found = entry_of(answer, FindingId::rule_axis_unknown);
  ASSERT_NE(found, nullptr);
  EXPECT_EQ(found->finding.severity, Severity::error);
  EXPECT_THAT(found->finding.fix, HasSubstr("'tensor'"));
}

/// Rules that arguments bring stand at no line of the set that is checked.
TEST(Misspelling, IsFoundInTheRulesOfArguments) {
  const CheckAnswer answer = checked("default", "fsdp=8", "llama2-7b", 
                                     {"logical_axis_rules=[['embd', ['fsdpp']]]", "override_model_config=true"});
  const CheckedFinding* name = entry_of(answer, FindingId::rule_name_unknown);
  ASSERT_NE(name, nullptr);
  EXPECT_EQ(name->finding.fix, "name it 'embed', the nearest");
  EXPECT_EQ(name->rules.front().line, 0);
  const CheckedFinding* axis = entry_of(answer, FindingId::rule_axis_unknown);
  ASSERT_NE(axis, nullptr);
  EXPECT_EQ(axis->finding.fix, "name it 'fsdp', the nearest");
}

/// What is called unknown must be: the names that our own programs give to tensors are MaxText's.
TEST(LogicalAxes, HaveEveryNameOfEveryModel) {
  const auto& names = logical_axis_names();
  EXPECT_TRUE(std::is_sorted(names.begin(), names.end()));
  for (const auto& name : model_names()) {
    const Model model = load_model(name);
    for (const auto& rule : model.rules.rules) EXPECT_THAT(names, testing::Contains(rule.logical)) << name;
    if (!model.not_modelled.empty()) continue;
    for (const auto& block : reference_program(model, 2048).blocks)
      for (const auto& tensor : block.tensors)
        for (const std::string_view axis : tensor.constraint.axes)
          EXPECT_TRUE(axis.empty() || std::binary_search(names.begin(), names.end(), axis)) << name << " " << axis;
  }
  for (const auto& set : rule_set_names())
    for (const auto& rule : load_rules(set).rules) EXPECT_THAT(names, testing::Contains(rule.logical)) << set;
}

}  // namespace
}  // namespace shardplan
