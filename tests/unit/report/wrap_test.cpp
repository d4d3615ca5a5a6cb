#include <gtest/gtest.h>

#include <planner/report/wrap.hpp>

namespace shardplan {
namespace {

TEST(Wrap, BreaksAtWordsBehindAMargin) {
  EXPECT_EQ(wrap_text("one two three", "- ", 9), "- one two\n  three\n");
  EXPECT_EQ(wrap_text("incomprehensibilities", "- ", 9), "- incomprehensibilities\n");
  EXPECT_EQ(wrap_text("", "- ", 9), "- \n");
}

TEST(MaxTextCommand, PastesIntoAShell) {
  EXPECT_EQ(maxtext_command({{"model_name", "llama2-7b"}, {"logical_axis_rules", "[['norm','fsdp']]"}}, 2, 80),
            "  python3 -m maxtext.trainers.pre_train.train model_name=llama2-7b \\\n"
            "    'logical_axis_rules=[['\\''norm'\\'','\\''fsdp'\\'']]'\n");
}

}  // namespace
}  // namespace shardplan
