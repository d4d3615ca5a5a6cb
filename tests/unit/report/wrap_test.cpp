#include <gtest/gtest.h>

#include <planner/report/wrap.hpp>

namespace shardplan {
namespace {

TEST(Wrap, BreaksAtWordsBehindAMargin) {
  EXPECT_EQ(wrap_text("one two three", "- ", 9), "- one two\n  three\n");
  EXPECT_EQ(wrap_text("incomprehensibilities", "- ", 9), "- incomprehensibilities\n");
  EXPECT_EQ(wrap_text("", "- ", 9), "- \n");
}

}  // namespace
}  // namespace shardplan
