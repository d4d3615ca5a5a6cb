// Spellings of one name, and what a terminal is shown of anything.
#include <gmock/gmock.h>

#include <shardplan/spelling.hpp>

namespace shardplan {
namespace {

using testing::Contains;
using testing::IsEmpty;

TEST(Spelling, IsLettersAndDigitsInEitherCase) {
  EXPECT_EQ(same_spelling("Llama-3.1-8B"), same_spelling("llama3.1-8b"));
  EXPECT_EQ(same_spelling("TPU v5p"), same_spelling("tpu-v5p"));
  EXPECT_NE(same_spelling("llama3-8b"), same_spelling("llama3.1-8b"));
  EXPECT_EQ(same_spelling("--"), "");
}

TEST(Synonyms, AreOfWordsWhateverTheirDashes) {
  EXPECT_THAT(synonyms_of("--hw"), Contains("hardware"));
  EXPECT_THAT(synonyms_of("PP"), Contains("stage"));
  EXPECT_THAT(synonyms_of("pipeline_parallel"), Contains("stage"));
  EXPECT_THAT(synonyms_of("fsdp"), IsEmpty()) << "ours need none";
}

TEST(Printable, EscapesWhatATerminalWouldActOn) {
  EXPECT_EQ(printable("größer → 2", 100), "größer → 2");
  EXPECT_EQ(printable("a\nb\x1b[31m\x7f", 100), "a\\x0ab\\x1b[31m\\x7f");
  EXPECT_EQ(printable("\xff\xfe\xc3", 100), "\\xff\\xfe\\xc3") << "no UTF-8";
  EXPECT_EQ(printable("\xc2\x85 \xe2\x82", 100), "\\xc2\\x85 \\xe2\\x82") << "a C1 control, half a character";
  EXPECT_EQ(printable(std::string("\0", 1), 100), "\\x00");
}

TEST(ControlCharacters, AreThoseThatATerminalActsOn) {
  for (const char* text : {"a\nb", "\t", "\x1b[31m", "a\x7f", "\xc2\x85"}) EXPECT_TRUE(has_control_characters(text)) << text;
  EXPECT_TRUE(has_control_characters(std::string_view("\0", 1)));
  for (const char* text : {"", "größer → 2", "a b", "\xff"}) EXPECT_FALSE(has_control_characters(text)) << text;
}

TEST(Printable, CutsWhatIsTooLong) {
  EXPECT_EQ(printable("abcdef", 6), "abcdef");
  EXPECT_EQ(printable("abcdefg", 6), "abcdef…");
  EXPECT_EQ(printable("abcd\xff", 6), "abcd…") << "not in the middle of an escape";
}

}  // namespace
}  // namespace shardplan
