#include <gmock/gmock.h>

#include <audit/timeline/open_collectives.hpp>
#include <tests/unit/timeline/toy_programs.hpp>

namespace shardplan {
namespace {

std::vector<HloStep> steps_of(const std::string& instructions) {
  const ScheduledProgram read = scheduled(scheduled_text(instructions));
  return read.schedule.computations[read.program.entry];
}

std::size_t place(const std::vector<HloStep>& steps, const std::string& name) {
  for (std::size_t i = 0; i < steps.size(); ++i)
    if (steps[i].name == name) return i;
  return steps.size();
}

TEST(OpenCollectives, BeginsInFrontOfProductsThatDoNotMakeItsOperand) {
  const auto steps = steps_of(product("a") + product("b") + kernel("cast") + whole_gather("g", false, "cast"));
  const auto g = place(steps, "g");
  EXPECT_EQ(earliest_begin(steps, g, 1), place(steps, "b"));
  EXPECT_EQ(earliest_begin(steps, g, 0), place(steps, "a"));
}

TEST(OpenCollectives, BeginsBehindTheProductThatMakesItsOperand) {
  const auto steps = steps_of(product("a") + product("b") + "  %w = f32[8]{0} broadcast(%a), dimensions={}\n" +
                              product("c") + whole_gather("g", false, "w"));
  EXPECT_EQ(earliest_begin(steps, place(steps, "g"), 0), place(steps, "b"));
  const auto at_once = steps_of(product("a") + "  %w = f32[8]{0} broadcast(%a), dimensions={}\n" +
                                whole_gather("g", false, "w"));
  EXPECT_EQ(earliest_begin(at_once, place(at_once, "g"), 0), place(at_once, "g"));
}

TEST(OpenCollectives, CastsAndSlicesOfAResultWaitWithIt) {
  const auto steps = steps_of(whole_gather("g", false) + "  %s = f32[8]{0} slice(%g)\n" + product("a") +
                              product("b", "s"));
  const auto uses = first_uses(steps);
  EXPECT_EQ(uses[place(steps, "g")], place(steps, "b"));
  EXPECT_EQ(uses[place(steps, "b")], steps.size());
}

}  // namespace
}  // namespace shardplan
