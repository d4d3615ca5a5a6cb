#include <gmock/gmock.h>

#include <shardplan/rounding.hpp>

namespace shardplan {
namespace {

using testing::ElementsAre;

TEST(Divisors, Ascend) {
  EXPECT_THAT(divisors_of(1), ElementsAre(1));
  EXPECT_THAT(divisors_of(12), ElementsAre(1, 2, 3, 4, 6, 12));
  EXPECT_THAT(divisors_of(49), ElementsAre(1, 7, 49));
  EXPECT_EQ(divisors_of(1'000'000'000).size(), 100U);
}

}  // namespace
}  // namespace shardplan
