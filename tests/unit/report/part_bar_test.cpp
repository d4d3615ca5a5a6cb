#include <gtest/gtest.h>

#include <planner/report/part_bar.hpp>

namespace shardplan {
namespace {

std::vector<BarPart> parts(double a, double b) { return {{'A', Ink::plain, "a", a}, {'B', Ink::plain, "b", b}}; }

TEST(Bar, SharesLettersInProportion) {
  struct Row {
    double a, b, whole;
    const char* bar;
  };
  for (const auto& [a, b, whole, bar] :
       {Row{1, 1, 0, "[AAAAABBBBB]"}, Row{1, 3, 0, "[AAABBBBBBB]"}, Row{1, 1, 4, "[AAABB.....]"},
        Row{3, 3, 4, "[AAAAABBBBB]"}, Row{0, 1, 0, "[BBBBBBBBBB]"}, Row{0, 0, 0, "[..........]"},
        Row{0, 0, 5, "[..........]"}})
    EXPECT_EQ(print_bar(parts(a, b), whole, 10, Style::plain()), bar) << a << ' ' << b << ' ' << whole;
}

TEST(Bar, LegendLeavesOutNothingsAndWraps) {
  EXPECT_EQ(print_legend(parts(0, 1), 80, 1, Style::plain()), " B b\n");
  EXPECT_EQ(print_legend(parts(1, 1), 8, 0, Style::plain()), "A a\nB b\n");
}

}  // namespace
}  // namespace shardplan
