#include <gmock/gmock.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <planner/compare/saved_answer.hpp>
#include <planner/compare/traffic.hpp>
#include <planner/report/json/json_evaluation.hpp>
#include <planner/report/json/json_plan.hpp>
#include <shardplan/error.hpp>
#include <tests/unit/report/examples.hpp>

namespace shardplan {
namespace {

using testing::HasSubstr;

std::string written(const std::string& text) {
  const auto path = std::filesystem::path(testing::TempDir()) /
                    testing::UnitTest::GetInstance()->current_test_info()->name();
  std::ofstream(path) << text;
  return path;
}

void expect_same(const Evaluation& read, const Evaluation& e) {
  EXPECT_EQ(read.mesh, e.mesh);
  EXPECT_EQ(read.moe_path, e.moe_path);
  EXPECT_EQ(read.memory.peak(), e.memory.peak());
  EXPECT_EQ(read.memory.fit(), e.memory.fit());
  EXPECT_DOUBLE_EQ(read.time.step().value, e.time.step().value);
  EXPECT_DOUBLE_EQ(read.tokens_per_second_with_routing(), e.tokens_per_second_with_routing());
  EXPECT_EQ(traffic_of(read).total(), traffic_of(e).total());
  EXPECT_EQ(traffic_by_axes(read)[0].axes, traffic_by_axes(e)[0].axes);
}

TEST(SavedAnswer, ReadsWhatExplainWrites) {
  Evaluation e = examples::fitting();
  e.time.all_token_routing = e.time.step() * 0.5;
  expect_same(read_saved_answer(written(explanation_json(e))).evaluation, e);
}

TEST(SavedAnswer, OfAPlanTheFirstRecommendation) {
  PlanAnswer plan{"mixtral-8x7b", 8, Objective::throughput, {}};
  plan.machines.emplace_back().hardware = "h100";
  plan.machines.emplace_back().hardware = "tpu-v5p";
  plan.machines[1].recommended = examples::fitting();
  expect_same(read_saved_answer(written(plan_json(plan))).evaluation, *plan.machines[1].recommended);
}

TEST(SavedAnswer, APlanWithoutAnyIsAnError) {
  PlanAnswer plan{"mixtral-8x7b", 8, Objective::throughput, {}};
  plan.machines.emplace_back().hardware = "h100";
  const std::string path = written(plan_json(plan));
  EXPECT_THAT([&] { read_saved_answer(path); },
              testing::ThrowsMessage<InputError>(HasSubstr("a plan without a recommendation")));
}

TEST(SavedAnswer, AStepThatIsNotTheSumOfItsPartsIsAnError) {
  nlohmann::json answer = nlohmann::json::parse(explanation_json(examples::fitting()));
  answer["time"]["step_seconds"] = answer["time"]["step_seconds"].get<double>() * 2;
  const std::string path = written(answer.dump());
  EXPECT_THAT([&] { read_saved_answer(path); },
              testing::ThrowsMessage<InputError>(HasSubstr("'step_seconds' must be the sum of its parts")));
}

TEST(SavedAnswer, AnotherDocumentIsAnError) {
  const std::string path = written(R"({"schema_version": 1, "command": "check"})");
  EXPECT_THAT([&] { read_saved_answer(path); }, testing::ThrowsMessage<InputError>(HasSubstr("\"plan\"")));
}

}  // namespace
}  // namespace shardplan
