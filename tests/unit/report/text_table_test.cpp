#include <gmock/gmock.h>

#include <planner/report/style.hpp>
#include <planner/report/text/text_table.hpp>
#include <sstream>

namespace shardplan {
namespace {

TEST(TextTable, LinesUpLeftAndRight) {
  TextTable table({{"name"}, {"size", Align::right}});
  table.add({"a", "1"});
  table.add({"longer", "1,000"});
  EXPECT_EQ(table.print(80),
            "name     size\n"
            "a           1\n"
            "longer  1,000\n");
}

TEST(TextTable, ColoursTakeNoRoom) {
  TextTable table({{"fits"}, {"n"}});
  table.add({Style::coloured().paint(Ink::red, "no"), "1"});
  EXPECT_EQ(table.print(80), "fits  n\n\x1b[31mno\x1b[0m    1\n");
}

TEST(TextTable, ClosesGapsThenWrapsTheWidestColumn) {
  TextTable table({{"k"}, {"mesh", Align::left, true}, {"n"}});
  table.add({"a", "data=2,fsdp=4", "1"});
  EXPECT_EQ(table.print(19), "k  mesh           n\na  data=2,fsdp=4  1\n");
  EXPECT_EQ(table.print(17), "k mesh          n\na data=2,fsdp=4 1\n");
  EXPECT_EQ(table.print(11), "k mesh    n\na data=2, 1\n  fsdp=4\n");
}

TEST(TextTable, LeavesOutRowsWhoseFiguresAreInColumnsThatArent) {
  TextTable table({{"k"}, {"#1"}, {"#2", Align::left, false, 1}});
  table.leave_out_rows_of("-", 1);
  table.add({"a", "1", "-"});
  table.add({"b", "-", "2"});
  EXPECT_EQ(table.print(80), "k  #1  #2\na  1   -\nb  -   2\n");
  EXPECT_THAT(table.print(6), testing::StartsWith("k  #1\na  1\n(a\n"));
}

TEST(TextTable, LeavesOutTheLeastColumnLastAndSaysSo) {
  TextTable table({{"k"}, {"mesh", Align::left, true}, {"more", Align::left, false, 1}, {"most", Align::left, false, 2}});
  table.add({"a", "data=2,fsdp=4", "x", "y"});
  EXPECT_EQ(table.print(19), "k mesh    more most\na data=2, x    y\n  fsdp=4\n");
  EXPECT_EQ(table.print(17), "k mesh       more\na data=2,    x\n  fsdp=4\n(a wider screen\nalso has: most)\n");
  EXPECT_EQ(table.print(12), "k mesh\na data=2,\n  fsdp=4\n(a wider\nscreen also\nhas: more,\nmost)\n");
}

TEST(TextTable, LeavesOutProseRatherThanSqueezeIt) {
  TextTable table({{"k"}, {"note", Align::left, true, 1, 8}});
  table.add({"a", "planned with it"});
  EXPECT_EQ(table.print(11), "k note\na planned\n  with it\n");
  EXPECT_EQ(table.print(9), "k\na\n(a wider\nscreen\nalso has:\nnote)\n");
}

TEST(TextTable, BreaksNamesBeforeWords) {
  TextTable table({{"k"}, {"limited by", Align::left, true, 1}, {"file", Align::left, true}});
  table.add({"a", "exposed communication", "averylongname.json"});
  EXPECT_EQ(table.print(26),
            "k limited by    file\n"
            "a exposed       averylongn\n"
            "  communication ame.json\n");
  EXPECT_EQ(table.print(24), "k  file\na  averylongname.json\n(a wider screen also\nhas: limited by)\n");
}

TEST(TextTable, WrapsWhatSpansTheColumns) {
  TextTable table({{"machine"}, {"fits"}, {"time"}});
  table.add_spanning({"h100", "no"}, "needs more memory than there is");
  EXPECT_EQ(table.print(32),
            "machine  fits  time\n"
            "h100     no    needs more memory\n"
            "               than there is\n");
}

TEST(Broken, LosesNothingBetweenTheLines) {
  using testing::ElementsAre;
  EXPECT_THAT(broken("", 4), ElementsAre(""));
  EXPECT_THAT(broken("fsdp=8,context=2", 10), ElementsAre("fsdp=8,", "context=2"));
  EXPECT_THAT(broken("layers/mlp: wi_0, wo", 11), ElementsAre("layers/mlp:", "wi_0, wo"));
  EXPECT_THAT(broken("54.0 GB 60.1 ms + 64.5 ms", 15), ElementsAre("54.0 GB 60.1 ms", "+ 64.5 ms"));
  EXPECT_THAT(broken("54.0 GB 60.1 ms", 12), ElementsAre("54.0 GB", "60.1 ms")) << "a figure stays with its unit";
  EXPECT_THAT(broken("größere", 3), ElementsAre("grö", "ßer", "e")) << "characters, not bytes";
}

}  // namespace
}  // namespace shardplan
