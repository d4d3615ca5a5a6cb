// Published runs against predicted steps. The errors may only fall.
#include <gmock/gmock.h>

#include <hardware/load_profile.hpp>
#include <planner/validate/score_times.hpp>
#include <shardplan/error.hpp>

namespace shardplan {
namespace {

using testing::HasSubstr;
using testing::ThrowsMessage;

struct Known {
  const char* of;
  int runs;
  double mean;  ///< of |log error|, in percent
};

constexpr Known by_machine[] = {
    {"h100", 10, 6.4},     {"mi355x", 2, 26.0},  {"tpu-7x", 20, 7.9}, {"tpu-v4", 6, 10.5},
    {"tpu-v5e", 24, 6.8}, {"tpu-v5p", 18, 5.7}, {"tpu-v6e", 29, 6.4}};

TEST(MeasuredTimes, AreNoFurtherOffThanKnown) {
  const TimeScore score = score_times(built_in_measured_runs());
  EXPECT_EQ(score.all.runs, 109);
  EXPECT_LE(100 * score.all.mean, 7.5);
  ASSERT_EQ(score.by_machine.size(), std::size(by_machine));
  for (std::size_t i = 0; i < std::size(by_machine); ++i) {
    EXPECT_EQ(score.by_machine[i].of, by_machine[i].of);
    EXPECT_EQ(score.by_machine[i].runs, by_machine[i].runs) << by_machine[i].of;
    EXPECT_LE(100 * score.by_machine[i].mean, by_machine[i].mean) << by_machine[i].of;
  }
  for (std::size_t i = 1; i < score.runs.size(); ++i)
    EXPECT_GE(std::abs(score.runs[i - 1].log_error()), std::abs(score.runs[i].log_error()));
}

// Steps of a few layers on one H100 and one H200, to which the two profiles owe what products, attention kernels and
// elementwise work reach.
TEST(MeasuredTimes, OfOneGpuAddUp) {
  const TimeScore score = score_times(read_measured_runs(RECORDS "/../measured/one_gpu.json"));
  EXPECT_EQ(score.all.runs, 32);
  for (const TimeError& error : score.by_machine)
    EXPECT_LE(100 * error.mean, error.of == "h100" ? 2.3 : 6.4) << error.of;
  for (const auto& run : score.runs) EXPECT_LE(std::abs(run.log_error()), 0.17) << run.id;
}

// What profiles carry as step_error is what `validate --times` measures (JSON: by_hardware[].step_error).
TEST(MeasuredTimes, AreTheRangesOfProfiles) {
  for (const TimeError& error : score_times(built_in_measured_runs()).by_machine) {
    const auto& carried = load_profile(error.of).step_error;
    ASSERT_TRUE(carried) << error.of;
    EXPECT_EQ(carried->runs, error.runs) << error.of;
    EXPECT_NEAR(carried->low, error.low, 1e-9) << error.of;
    EXPECT_NEAR(carried->high, error.high, 1e-9) << error.of;
  }
}

// PR #4179: the expert axis stolen by the batch dim, and given back. Measured 1.47.
TEST(MeasuredTimes, TheStolenExpertAxisIsSlowerThanItsFix) {
  const TimeScore score = score_times(built_in_measured_runs());
  const auto step = [&](const std::string& id) {
    for (const auto& run : score.runs)
      if (run.id == id) return run.step_seconds;
    return 0.0;
  };
  const std::string pair = "mi355x-maxtext-mixtral-8x7b-8g-4096-bf16-dispatch-";
  EXPECT_GE(step(pair + "expert") / step(pair + "peeled"), 1.18);
}

TEST(MeasuredTimes, AreReadStrictly) {
  const auto parse = [](const char* run) {
    return parse_measured_runs(std::string("{\"runs\": [") + run + "]}", "mine.json");
  };
  constexpr const char* good = R"({"id": "a", "arguments": {"model_name": "llama2-7b"}, "step_seconds": 2, "source": "s"})";
  EXPECT_EQ(parse(good).front().arguments, std::vector<std::string>{"model_name=llama2-7b"});
  const struct {
    const char *run, *message;
  } rows[] = {
      {R"({"id": "a", "arguments": {}, "source": "s"})", "'step_seconds' must be given exactly when"},
      {R"({"id": "a", "arguments": {}, "step_seconds": 0, "source": "s"})", "'step_seconds' must be above 0"},
      {R"({"id": "a", "arguments": {}, "step_seconds": 2, "source": "s", "speed": 3})", "unknown key 'speed'"},
      {R"({"id": "a", "arguments": {"steps": 3}, "step_seconds": 2, "source": "s"})", "mine.json.runs[0].arguments"},
  };
  for (const auto& row : rows)
    EXPECT_THAT([&] { parse(row.run); }, ThrowsMessage<InputError>(HasSubstr(row.message))) << row.run;
}

}  // namespace
}  // namespace shardplan
