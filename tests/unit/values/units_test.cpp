// Amounts as sentences have them.
#include <gtest/gtest.h>

#include <shardplan/units.hpp>

namespace shardplan {
namespace {

TEST(InWords, HasThreeDigitsAndTheUnitThatFits) {
  EXPECT_EQ(in_words(Bytes{0}), "0 kB");
  EXPECT_EQ(in_words(Bytes{999'400}), "999 kB");
  EXPECT_EQ(in_words(Bytes{999'600}), "1 MB");
  EXPECT_EQ(in_words(Bytes{45'120'000'000}), "45.1 GB");
  EXPECT_EQ(in_words(Bytes{3'200'000'000'000}), "3.2 TB");
  EXPECT_EQ(in_words(Bytes{2'810'000'000'000'000}), "2.81 PB");
  EXPECT_EQ(in_words(Seconds{0.0000456}), "45.6 us");
  EXPECT_EQ(in_words(Seconds{0.9994}), "999 ms");
  EXPECT_EQ(in_words(Seconds{0.9996}), "1 s");
  EXPECT_EQ(in_words(Seconds{999.6}), "1,000 s");
  EXPECT_EQ(in_words(Seconds{95'275.2}), "95,275 s");
  EXPECT_EQ(gibibytes(Bytes{std::int64_t{3} << 29}), 1.5);
}

}  // namespace
}  // namespace shardplan
