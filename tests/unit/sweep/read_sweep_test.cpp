#include <gmock/gmock.h>

#include <planner/report/sweep_report.hpp>
#include <planner/sweep/read_sweep.hpp>
#include <shardplan/error.hpp>
#include <tests/unit/sweep/rows.hpp>

namespace shardplan {
namespace {

/// Numbers that no short decimal has, and every kind of row.
SweepAnswer every_kind() {
  SweepRow marginal = with_budget(possible("a", "y", 8, plan_taking(0.1, 1.0 / 3, 1e-9)), 2.5);
  marginal.plan->fit = Fit::marginal;
  marginal.limit = Limit::host_transfers;
  marginal.budget->kilowatt_hours = 1.0 / 7;
  marginal.plan->lacks_bias_gradients = true;
  SweepAnswer answer =
      answer_of({with_budget(possible("a", "x", 4, plan_taking(4)), {}), impossible("a", "x", 2), marginal});
  answer.goal = {1'000'000, Seconds{1.5 * 86400}};
  answer.machine_files = {{"y", "machines/y.json"}};
  return answer;
}

TEST(ReadSweep, ReadsWhatWasPrinted) {
  const SweepAnswer printed = every_kind();
  const SweepAnswer read = read_sweep(sweep_json(printed), "s.json");
  EXPECT_EQ(read.rows, printed.rows);
  EXPECT_EQ(read.request, printed.request);
  EXPECT_EQ(read.goal, printed.goal);
  EXPECT_EQ(read.shard, printed.shard);
  EXPECT_EQ(read.machine_files, printed.machine_files);
  EXPECT_EQ(sweep_json(read), sweep_json(printed));
}

TEST(ReadSweep, KeepsTheOrderOfAxes) {
  const SweepAnswer read = read_sweep(sweep_json(every_kind()), "s.json");
  EXPECT_EQ(describe_mesh(*read.rows[0].plan), "fsdp=4,expert=2");
}

std::string replaced(std::string text, const std::string& from, const std::string& to) {
  const auto at = text.find(from);
  EXPECT_NE(at, text.npos) << from;
  return text.replace(at, from.size(), to);
}

TEST(ReadSweep, RefusesWhatIsNoSweep) {
  const std::string good = sweep_json(every_kind());
  const std::pair<std::string, const char*> rows[] = {
      {"", "the file is empty"},
      {"[]", "expected an object"},
      {"{\"command\": \"plan\"}", "'command' must be \"sweep\""},
      {good.substr(0, good.size() / 2), "not valid JSON"},
      {replaced(good, "\"place\": 1", "\"place\": 0"), "cells[1]: place 0 is not the next"},
      {replaced(good, "\"place\": 1", "\"place\": -1"), "cells[1]: 'place' must be at least 0"},
      {replaced(good, "\"schema_version\": 1", "\"schema_version\": 2"), "'schema_version' must be 1"},
      {replaced(good, "\"place\": 2", "\"place\": 3"), "place 3"},
      {replaced(good, "\"count\": 1", "\"count\": 0"), "'number' must be"},
      {replaced(good, "host-transfers", "hosts"), "unknown limit 'hosts'"},
      {replaced(good, "\"fit\": \"fits\"", "\"fit\": 1"), "'fit' must be a string"},
  };
  for (const auto& [text, message] : rows)
    EXPECT_THAT([&] { read_sweep(text, "s.json"); }, testing::ThrowsMessage<InputError>(testing::HasSubstr(message)))
        << message;
}

TEST(SweepCsv, HasARowACellAndQuotesWhatNeedsIt) {
  SweepAnswer answer = every_kind();
  answer.rows[1].reason = "so \"called\", here";
  const std::string csv = sweep_csv(answer);
  EXPECT_EQ(std::count(csv.begin(), csv.end(), '\n'), 4);
  EXPECT_THAT(csv, testing::HasSubstr("\"so \"\"called\"\", here\",\n"));
  EXPECT_TRUE(csv.ends_with("host-transfers,,true\n"));
  EXPECT_THAT(csv, testing::HasSubstr("\"fsdp=4,expert=2\""));
  EXPECT_THAT(csv, testing::HasSubstr(",0.3333333333333333,"));
}

}  // namespace
}  // namespace shardplan
