// What files that are given beside flags say, and what their names may be.
#include <gmock/gmock.h>

#include <nlohmann/json.hpp>
#include <tests/golden/program_folder.hpp>

namespace shardplan {
namespace {

using nlohmann::json;
using testing::HasSubstr;

class GivenFiles : public ProgramFolder {
 protected:
  void expect_refused(const std::vector<std::string>& words, const std::string& why) const {
    const ProgramRun done = run(words);
    EXPECT_EQ(done.exit_code, 2) << testing::PrintToString(words) << done.output << done.errors;
    EXPECT_THAT(done.errors, HasSubstr(why)) << testing::PrintToString(words);
  }
};

std::vector<std::string> explain(std::vector<std::string> more) {
  std::vector<std::string> words = {"explain", "--hardware", "v5p-16", "per_device_batch_size=1", "--format", "json"};
  words.insert(words.end(), more.begin(), more.end());
  return words;
}

/// A flag wins over a file, the default's name as any other.
TEST_F(GivenFiles, YieldToTheRulesOfTheCommandLine) {
  write("c.yml", "model_name: mixtral-8x7b\ncustom_mesh_and_rule: cp-as-ep\nsparse_matmul: true\nmegablox: true\n");
  EXPECT_EQ(json::parse(run(explain({"--config", "c.yml"})).output).at("rules"), "cp-as-ep");
  EXPECT_EQ(json::parse(run(explain({"--config", "c.yml", "--rules", "default"})).output).at("rules"), "default");
}

/// Else a set looks as MaxText has it.
TEST_F(GivenFiles, ShowThatTheyHaveRulesOfTheirOwn) {
  write("c.yml", "model_name: llama3.1-8b\nlogical_axis_rules: [['mlp', []]]\n");
  for (const char* format : {"text", "markdown"}) {
    const ProgramRun done = run({"explain", "--hardware", "v5p-16", "--mesh", "fsdp=8", "per_device_batch_size=1",
                                 "--config", "c.yml", "--format", format});
    EXPECT_THAT(done.output, HasSubstr("default with logical_axis_rules")) << done.errors;
  }
}

TEST_F(GivenFiles, NameTheirRematPolicy) {
  write("c.yml", "remat_policy: ful\n");
  expect_refused({"explain", "--model", "llama2-7b", "--hardware", "h100", "--chips", "8", "--mesh", "fsdp=8", "--config",
                  "c.yml"},
                 "c.yml: remat_policy=ful: unknown policy 'ful'; nearest: full");
  write("c.yml", "remat_policy: minimal_flash\n");
  EXPECT_EQ(run(explain({"--model", "llama2-7b", "--mesh", "fsdp=8", "--config", "c.yml"})).exit_code, 0) << "an older name";
}

TEST_F(GivenFiles, SayThatTheirModelIsTheCommandLines) {
  const json model = json::parse(run({"models", "init", "mine", "--like", "llama2-7b", "--format", "json"}).output);
  write("mine.json", model.dump());
  const std::vector<std::string> on = {"--hardware", "v5p-16", "--mesh", "fsdp=8", "per_device_batch_size=1"};
  std::vector<std::string> words = {"explain", "--model", "mine.json", "--as", "yaml", "-o", "run.yml"};
  words.insert(words.end(), on.begin(), on.end());
  ASSERT_EQ(run(words).exit_code, 0);
  expect_refused(explain({"--config", "run.yml"}), "run.yml: it leaves the model to the command line: give --model FILE");
  EXPECT_EQ(run(explain({"--config", "run.yml", "--model", "mine.json"})).exit_code, 0);
}

TEST_F(GivenFiles, MayHaveNamesWithoutAnEnding) {
  write("mine", "logical_axis_rules: [[embed, fsdp]]\n");
  EXPECT_EQ(run({"rules", "show", "mine"}).exit_code, 0);
  expect_refused({"hardware", "show", "mine"}, "unknown hardware 'mine'; a file is given by its path: ./mine");
}

/// Weights that no pass reduces have no traffic to name.
TEST_F(GivenFiles, OfRulesThatShardNothingSayNoTraffic) {
  write("r.yml", "logical_axis_rules: [[embed, fsdp]]\n");
  const ProgramRun done = run({"check", "--rules", "r.yml", "--model", "llama3-8b", "--mesh", "fsdp=8"});
  EXPECT_THAT(done.output, testing::Not(HasSubstr("0 kB")));
  EXPECT_THAT(done.output, testing::ContainsRegex("refuses\\s+to\\s+start\n")) << "and no step that stays as it is";
}

TEST_F(GivenFiles, OfAnswersAreComparedInOneForm) {
  for (const char* machine : {"h100", "toy-spine"})
    ASSERT_EQ(run({"explain", "--model", "llama2-7b", "--hardware", machine, "--chips", "8", "--mesh", "fsdp=8",
                   "per_device_batch_size=1", "attention=cudnn_flash_te", "--format", "json", "-o",
                   std::string(machine) + ".json"}).exit_code, 0);
  EXPECT_THAT(run({"compare", "h100.json", "--against", "toy-spine.json"}).output, HasSubstr("x slower"));
  EXPECT_THAT(run({"compare", "toy-spine.json", "--against", "h100.json"}).output, HasSubstr("x faster"));
}

/// Its memory would not do either, and an evaluation says that first; MaxText stops before.
TEST_F(GivenFiles, OfRulesThatDoNotStartHaveNoStep) {
  std::string rules = run({"rules", "show", "default"}).output;
  const std::string mlp = "['mlp', ['fsdp_transpose', 'tensor', 'tensor_sequence', 'autoregressive']]";
  ASSERT_NE(rules.find(mlp), rules.npos);
  write("mlp.yml", rules.replace(rules.find(mlp), mlp.size(), "['mlp', []]"));
  const ProgramRun done = run({"compare", "--rules", "default", "--against", "mlp.yml", "--model", "llama2-7b", "--chips",
                               "8", "--hardware", "h100", "--mesh", "fsdp=4,tensor=2"});
  EXPECT_THAT(done.output, HasSubstr("alone on fsdp=4,tensor=2: does not run (weights-not-sharded: "));
}

}  // namespace
}  // namespace shardplan
