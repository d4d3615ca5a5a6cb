// Command lines and what they print, whole: the folders beside this file.
#include <gmock/gmock.h>

#include <algorithm>
#include <cstdlib>
#include <tests/golden/golden_case.hpp>

namespace shardplan {
namespace {

class Golden : public testing::TestWithParam<std::string> {};

std::string folder_of(const std::string& name) { return std::string(GOLDEN_CASES) + "/" + name; }

ProgramRun run_case(const std::string& folder) {
  unsetenv("COLUMNS");  // the width of whoever runs the tests
  std::vector<std::string> words;
  if (const auto variables = read_lines(folder + "/environment"); !variables.empty()) {
    words = variables;
    words.insert(words.begin(), "/usr/bin/env");
  }
  words.push_back(SHARDPLAN_BINARY);
  for (auto& argument : read_lines(folder + "/arguments")) words.push_back(std::move(argument));
  return run_program(words, folder);  // there, so that files of the case are named as they stand
}

TEST_P(Golden, SaysWhatWasRecorded) {
  const std::string folder = folder_of(GetParam());
  const ProgramRun run = run_case(folder);
  if (std::getenv("SHARDPLAN_UPDATE_GOLDEN")) return write_recorded(folder, run);
  const ProgramRun recorded = read_recorded(folder);
  EXPECT_EQ(comparable(run.output), recorded.output);
  EXPECT_EQ(run.errors, recorded.errors);
  EXPECT_EQ(run.exit_code, recorded.exit_code);
}

// What docs/exit-codes.md promises of every answer, whatever was recorded.
TEST_P(Golden, KeepsThePromisesOfItsExitCode) {
  const ProgramRun run = run_case(folder_of(GetParam()));
  const bool failed = run.exit_code == 1 || run.exit_code == 2;
  EXPECT_NE(run.exit_code, 1) << "an internal error is a bug";
  const bool complains = !run.errors.empty();  // --as where nothing fits
  EXPECT_EQ(run.output.empty(), failed || complains || GetParam().starts_with("output-")) << run.output;
  if (!failed) return;
  EXPECT_THAT(run.errors, testing::StartsWith("shardplan: "));
  EXPECT_EQ(std::count(run.errors.begin(), run.errors.end(), '\n'), 1) << "one line: " << run.errors;
}

INSTANTIATE_TEST_SUITE_P(Cases, Golden, testing::ValuesIn(case_names(GOLDEN_CASES)), [](const auto& row) {
  std::string name = row.param;
  std::replace(name.begin(), name.end(), '-', '_');
  return name;
});

TEST(GoldenCases, Exist) { EXPECT_GT(case_names(GOLDEN_CASES).size(), 30U); }

}  // namespace
}  // namespace shardplan
