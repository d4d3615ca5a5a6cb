// What `validate` prints, from scores made up for the purpose.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <formats/strict_json.hpp>
#include <planner/report/validate_report.hpp>

namespace shardplan {
namespace {

using testing::HasSubstr;
using testing::Not;

Validation toy() {
  RecordScore good{.id = "good", .memory = -0.00001, .refused_too = {}, .worst = {}, .failure = {}};
  RecordScore off{.id = "off",
                  .collectives = 0.25,
                  .phases = 0.5,
                  .memory = -0.125,
                  .arguments = 0.01,
                  .refused_too = {},
                  .worst = {},
                  .failure = {}};
  for (const char* group : {"gather fsdp", "reduce fsdp", "exchange expert", "shift stage"})
    off.worst.push_back({group, {2'000'000'000}, {1'000'000'000}});
  RecordScore refused{.id = "refused", .refused_too = true, .worst = {}, .failure = {}};
  RecordScore missed{.id = "missed", .refused_too = false, .worst = {}, .failure = {}};
  RecordScore failed{.id = "failed", .refused_too = {}, .worst = {}, .failure = "unknown model 'x'"};
  return {{good, off, refused, missed, failed}, {3, 2, 1, 0.125, 0.0625, 0.125, 2, 1}};
}

TEST(ValidationText, HasALineForEachProgramAndASummary) {
  const std::string text = validation_text(toy(), Style::plain());
  EXPECT_THAT(text, HasSubstr("off            25.0%   50.0%       -12.5%      +1.0%"));
  EXPECT_THAT(text, HasSubstr("good            0.0%    0.0%         0.0%       0.0%"));
  EXPECT_THAT(text, HasSubstr("gather fsdp: 2.00 GB predicted, 1.00 GB recorded"));
  EXPECT_THAT(text, Not(HasSubstr("shift stage")));  // three groups are enough
  EXPECT_THAT(text, HasSubstr("out of memory, as predicted"));
  EXPECT_THAT(text, HasSubstr("out of memory, predicted to fit"));
  EXPECT_THAT(text, HasSubstr("no prediction: unknown model 'x'"));
  EXPECT_THAT(
      text,
      HasSubstr("2 of 3 programs scored; collectives: median error 12.5%, within 5%: 1/3; memory: mean |error| 6.2%, "
                "worst\n12.5%; out of memory called right: 1/2\n"));
}

TEST(ValidationText, HasNoErrorsOfNothing) {
  const Validation none{{}, {2, 0, 0, 0, 0, 0, 0, 0}}, refused{{}, {0, 0, 0, 0, 0, 0, 1, 1}};
  EXPECT_THAT(validation_text(none, Style::plain()), HasSubstr("\n0 of 2 programs scored\n"));
  EXPECT_THAT(validation_text(refused, Style::plain()),
              HasSubstr("\n0 of 0 programs scored; out of memory called right: 1/1\n"));
  const auto summary = parse_json(validation_json(none), "validate.json").at("summary");
  for (const char* key : {"collectives_median_error", "memory_mean_error", "memory_worst_error"})
    EXPECT_TRUE(summary.at(key).is_null()) << key;
}

TEST(ValidationJson, SaysTheSame) {
  const auto document = parse_json(validation_json(toy()), "validate.json");
  EXPECT_EQ(document.at("schema_version"), 1);
  EXPECT_EQ(document.at("command"), "validate");
  ASSERT_EQ(document.at("programs").size(), 5);
  const auto& off = document.at("programs").at(1);
  EXPECT_EQ(off.at("id"), "off");
  EXPECT_EQ(off.at("collectives"), 0.25);
  EXPECT_EQ(off.at("differs").size(), 4);
  EXPECT_EQ(off.at("differs").at(0).at("predicted_bytes"), 2'000'000'000);
  EXPECT_EQ(document.at("programs").at(2).at("refused_too"), true);
  EXPECT_FALSE(document.at("programs").at(2).contains("collectives"));
  EXPECT_EQ(document.at("programs").at(4).at("failed"), "unknown model 'x'");
  EXPECT_EQ(document.at("summary").at("scored"), 2);
}

}  // namespace
}  // namespace shardplan
