#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <limits>
#include <map>
#include <nlohmann/json.hpp>
#include <planner/report/humanize.hpp>
#include <planner/words/fit_words.hpp>
#include <shardplan/error.hpp>
#include <string>

namespace shardplan {
namespace {

TEST(Humanize, Time) {
  struct Row {
    double seconds;
    const char* text;
  };
  for (const auto& [seconds, text] : {Row{0, "0 s"}, Row{1.234, "1.23 s"}, Row{12.34, "12.3 s"}, Row{123.4, "123 s"},
                                      Row{12345.6, "12,346 s"}, Row{0.0456, "45.6 ms"}, Row{0.9996, "1.00 s"},
                                      Row{7.8e-6, "7.80 us"}, Row{0.00099951, "1.00 ms"}, Row{9.996, "10.0 s"}})
    EXPECT_EQ(print_time({seconds}), text) << seconds;
}

TEST(Humanize, Memory) {
  struct Row {
    std::int64_t bytes;
    const char* text;
  };
  for (const auto& [bytes, text] : {Row{0, "0 GiB"}, Row{1LL << 30, "1.0 GiB"}, Row{86'000'000'000, "80.1 GiB"},
                                    Row{10 << 20, "10.0 MiB"}, Row{40960, "40.0 KiB"}, Row{-(1LL << 31), "-2.0 GiB"}})
    EXPECT_EQ(print_memory({bytes}), text) << bytes;
}

TEST(Humanize, Traffic) {
  struct Row {
    std::int64_t bytes;
    const char* text;
  };
  for (const auto& [bytes, text] : {Row{0, "0 GB"}, Row{45'100'000'000, "45.1 GB"}, Row{201'326'592, "201 MB"},
                                    Row{8192, "8.19 kB"}, Row{999'600, "1.00 MB"}, Row{2'000'000'000'000, "2,000 GB"}})
    EXPECT_EQ(print_traffic({bytes}), text) << bytes;
}

TEST(Humanize, Counts) {
  struct Row {
    std::int64_t count;
    const char* text;
  };
  for (const auto& [count, text] : {Row{0, "0"}, Row{999, "999"}, Row{1000, "1,000"}, Row{1234567, "1,234,567"},
                                    Row{-1000, "-1,000"}, Row{-100, "-100"}})
    EXPECT_EQ(print_count(count), text);
}

TEST(Humanize, Dollars) {
  EXPECT_EQ(print_dollars(0.001234), "0.00123");
  EXPECT_EQ(print_dollars(2.8149), "2.81");
  EXPECT_EQ(print_dollars(22'731.4), "22,731");
}

/// The numbers of tests/data/html/numbers.json, which pages write alike (tests/html/words_test.py).
TEST(Humanize, NumbersThatPagesShowToo) {
  const std::map<std::string, std::string (*)(double)> forms = {
      {"number", [](double value) { return print_number(value); }},
      {"memory", [](double value) { return print_memory({static_cast<std::int64_t>(value)}); }},
      {"traffic", [](double value) { return print_traffic({static_cast<std::int64_t>(value)}); }},
      {"time", [](double value) { return print_time({value}); }},
      {"share", [](double value) { return print_share(value); }},
      {"dollars", [](double value) { return print_dollars(value); }},
      {"count", [](double value) { return print_count(static_cast<std::int64_t>(value)); }}};
  std::ifstream file(TEST_DATA "/html/numbers.json");
  for (const auto& row : nlohmann::json::parse(file))
    EXPECT_EQ(forms.at(row.at("form"))(row.at("value")), row.at("text")) << row;
}

TEST(Humanize, MemoryThatIsMarginal) {
  constexpr std::int64_t gib = std::int64_t{1} << 30;
  MemoryUse memory;
  memory.low = {12 * gib};
  memory.high = {14 * gib};
  struct Row {
    std::int64_t capacity, reserved;
    const char* verdict;
  };
  const Row rows[] = {{13, 0, "may fit or not"},
                      {13, 1, "may fit or not"},
                      {13, 2, "may fit or not, and leaves less free than asked"},
                      {20, 7, "fits, but may leave less free than asked"},
                      {20, 15, "fits, but leaves less free than asked"}};
  for (const auto& [capacity, reserved, verdict] : rows) {
    memory.capacity = {capacity * gib};
    memory.reserved = {reserved * gib};
    EXPECT_EQ(marginal_verdict(memory), verdict) << capacity << " " << reserved;
  }
}

TEST(Humanize, NumbersBeyondWholeOnes) {
  EXPECT_EQ(print_number(1e15), "1e+15");
  EXPECT_EQ(print_number(3.331e21), "3.33e+21");
  EXPECT_EQ(print_number(-1e300), "-1e+300");
}

TEST(Humanize, RefusesWhatIsNotANumber) {
  EXPECT_THROW(print_number(std::nan("")), InternalError);
  EXPECT_THROW(print_share(std::numeric_limits<double>::infinity()), InternalError);
}

}  // namespace
}  // namespace shardplan
