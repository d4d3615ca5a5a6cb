// The settings of published MaxText runs, all of which ran, through what shardplan says MaxText refuses.
#include <gmock/gmock.h>

#include <formats/strict_json.hpp>
#include <nlohmann/json.hpp>
#include <planner/evaluate/evaluate.hpp>
#include <tests/unit/reading.hpp>

namespace shardplan {
namespace {

/// Memory is the planner's own judgement; and the run that routes at random had no expert parallelism, which the
/// MaxText that it ran on allowed and the one modelled here doesn't.
bool is_expected(ConstraintId constraint) {
  return constraint == ConstraintId::hbm || constraint == ConstraintId::random_routing;
}

MachineChoice machine_of(const nlohmann::json& row) {
  if (!row.contains("hardware")) return {};
  return {row["hardware"].get<std::string>(), row["chips"].get<int>(), std::nullopt};
}

TEST(PublishedSettings, AreNotRefused) {
  const auto rows = parse_json(read_file(TEST_DATA "/planner/published_settings.json"), "published_settings.json");
  for (const auto& row : rows) {
    SCOPED_TRACE(row["id"].get<std::string>());
    const std::string line = row["arguments"].get<std::string>();
    ASSERT_EQ(error_of(line, machine_of(row)), "");
    const auto infeasible = evaluate(read(line, machine_of(row))).infeasible;
    if (infeasible && !is_expected(infeasible->constraint)) ADD_FAILURE() << infeasible->message;
  }
  EXPECT_GE(rows.size(), 49U);
}

}  // namespace
}  // namespace shardplan
