// Every recorded program against its prediction. The committed errors (expected.json, percent) may only fall:
// SHARDPLAN_UPDATE_ORACLE=1 writes down those that did, and the lines of new records.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <formats/strict_json.hpp>
#include <fstream>
#include <iostream>
#include <planner/validate/score.hpp>

namespace shardplan {
namespace {

constexpr double worth_writing = 0.1;  // percentage points
const std::string expected_path = TEST_DATA "/oracle/expected.json";

bool updating() { return std::getenv("SHARDPLAN_UPDATE_ORACLE") != nullptr; }

const std::vector<RecordedProgram>& records() {
  static const std::vector<RecordedProgram> all = built_in_records();
  return all;
}

const nlohmann::json& expected() {
  static const nlohmann::json table = parse_json(read_file(expected_path), expected_path);
  return table;
}

double percent(double share) { return std::round(std::abs(share) * 1e4) / 1e2; }

struct ScoredFigure {
  const char* name;
  double percent;
};

std::vector<ScoredFigure> figures(const RecordScore& score) {
  return {{"collectives", percent(score.collectives)},
          {"phases", percent(score.phases)},
          {"memory", percent(score.memory)},
          {"arguments", percent(score.arguments)}};
}

double committed_or(double now, const std::string& id, const char* name) {
  return expected().contains(id) ? std::min(now, expected().at(id).at(name).get<double>()) : now;
}

std::string line_of(const RecordScore& score) {
  if (score.refused_too) return fmt::format(R"("{}": {{"refused_too": {}}})", score.id, *score.refused_too);
  std::string cells;
  for (const auto& [name, value] : figures(score))
    cells += fmt::format(R"({}"{}": {})", cells.empty() ? "" : ", ", name,
                         committed_or(value, score.id, name));
  return fmt::format(R"("{}": {{{}}})", score.id, cells);
}

void expect_no_worse(const ScoredFigure& now, const nlohmann::json& committed) {
  const double before = committed.at(now.name).get<double>();
  EXPECT_LE(now.percent, before) << now.name << " got worse";
  if (now.percent < before - worth_writing)
    std::cout << fmt::format("{}: {}% now, {}% committed: write it down with SHARDPLAN_UPDATE_ORACLE=1\n", now.name,
                             now.percent, before);
}

class Record : public testing::TestWithParam<std::size_t> {};

TEST_P(Record, IsPredictedNoWorseThanCommitted) {
  if (updating()) GTEST_SKIP() << "writing " << expected_path;
  const RecordedProgram& record = records()[GetParam()];
  ASSERT_TRUE(expected().contains(record.id)) << "no line in expected.json";
  const auto& committed = expected().at(record.id);
  const RecordScore now = score(record);
  ASSERT_FALSE(now.failure) << *now.failure;
  if (now.refused_too) {
    EXPECT_GE(*now.refused_too, committed.at("refused_too").get<bool>()) << "the compiler refused this program";
    return;
  }
  for (const auto& figure : figures(now)) expect_no_worse(figure, committed);
  for (const auto& group : now.worst)
    std::cout << fmt::format("  {}: predicted {} B, recorded {} B\n", group.group, group.predicted.value,
                             group.recorded.value);
}

INSTANTIATE_TEST_SUITE_P(Oracle, Record, testing::Range(std::size_t{0}, records().size()),
                         [](const auto& record) { return records()[record.param].id; });

TEST(Oracle, TableHasOneLineForEachRecord) {
  if (!updating()) {
    EXPECT_EQ(expected().size(), records().size());
    return;
  }
  expected();  // read before it is written
  std::string lines;
  for (const auto& record : records()) lines += (lines.empty() ? "" : ",\n ") + line_of(score(record));
  std::ofstream(expected_path) << "{" << lines << "}\n";
}

}  // namespace
}  // namespace shardplan
