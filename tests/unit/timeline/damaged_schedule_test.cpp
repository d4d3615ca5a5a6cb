// A text that is cut or garbled anywhere is read or refused, never something else.
#include <gmock/gmock.h>

#include <fstream>
#include <shardplan/error.hpp>
#include <sstream>
#include <tests/unit/timeline/toy_programs.hpp>

namespace shardplan {
namespace {

std::string toy_step() {
  std::ostringstream text;
  text << std::ifstream(TEST_DATA "/audit/toy_step.hlo").rdbuf();
  return text.str();
}

/// Whether it was read.
bool reads(const std::string& text) {
  try {
    walked(text, {{"project", 1}});
    return true;
  } catch (const InputError&) {
    return false;
  }
}

TEST(DamagedSchedule, ACutTextIsRefused) {
  const std::string text = toy_step();
  ASSERT_TRUE(reads(text));
  int read = 0;
  for (std::size_t size = 0; size + 2 < text.size(); size += 3) read += reads(text.substr(0, size)) ? 1 : 0;
  EXPECT_EQ(read, 0);
}

TEST(DamagedSchedule, AGarbledTextIsReadOrRefused) {
  const std::string text = toy_step();
  int refused = 0;
  for (const char garbage : {'(', '}', '%', ',', '0'})
    for (std::size_t at = 0; at < text.size(); at += 3) {
      std::string garbled = text;
      garbled[at] = garbage;
      refused += reads(garbled) ? 0 : 1;
    }
  EXPECT_GT(refused, 200);
}

}  // namespace
}  // namespace shardplan
