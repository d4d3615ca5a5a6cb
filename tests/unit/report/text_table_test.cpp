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

TEST(TextTable, ClosesGapsThenShortensTheWidestColumn) {
  TextTable table({{"k"}, {"text", Align::left, true}, {"n"}});
  table.add({"a", "abcdefghijkl", "1"});
  EXPECT_EQ(table.print(18), "k  text          n\na  abcdefghijkl  1\n");
  EXPECT_EQ(table.print(17), "k text         n\na abcdefghijkl 1\n");
  EXPECT_EQ(table.print(14), "k text       n\na abcdefghi… 1\n");
}

TEST(TextTable, WrapsWhatSpansTheColumns) {
  TextTable table({{"machine"}, {"fits"}, {"time"}});
  table.add_spanning({"h100", "no"}, "needs more memory than there is");
  EXPECT_EQ(table.print(32),
            "machine  fits  time\n"
            "h100     no    needs more memory\n"
            "               than there is\n");
}

TEST(Shortened, CountsCharactersNotBytes) {
  EXPECT_EQ(shortened("größer", 6), "größer");
  EXPECT_EQ(shortened("größere", 6), "größe…");
}

}  // namespace
}  // namespace shardplan
