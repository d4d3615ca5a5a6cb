// Nouns agree with their number.
#include <gtest/gtest.h>

#include <shardplan/collective/counted.hpp>

namespace shardplan {
namespace {

TEST(Counted, IsSingularOfOneOnly) {
  EXPECT_EQ(counted(1, "chip"), "1 chip");
  EXPECT_EQ(counted(0, "chip"), "0 chips");
  EXPECT_EQ(counted(12'288, "chip"), "12,288 chips");
  EXPECT_EQ(counted(-1'000'000, "chip"), "-1,000,000 chips");
  EXPECT_EQ(counted(1.0, "sequence"), "1 sequence");
  EXPECT_EQ(counted(0.5, "sequence"), "0.5 sequences");
  EXPECT_EQ(counted(6.4, "sequence"), "6.4 sequences");
  EXPECT_EQ(counted(24576.0, "token"), "24,576 tokens");
}

TEST(Counted, KnowsThePluralsInUse) {
  EXPECT_EQ(plural_of("mesh"), "meshes");
  EXPECT_EQ(plural_of("microbatch"), "microbatches");
  EXPECT_EQ(plural_of("forward pass"), "forward passes");
  EXPECT_EQ(plural_of("mesh axis"), "mesh axes");
  EXPECT_EQ(noun_for(1, "mesh axis"), "mesh axis");
}

}  // namespace
}  // namespace shardplan
