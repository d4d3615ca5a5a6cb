#include <gtest/gtest.h>

#include <formats/fingerprint.hpp>

namespace shardplan {
namespace {

// The vectors of the algorithm's authors (isthe.com/chongo/src/fnv/test_fnv.c).
TEST(Fingerprint, IsFnv1a) {
  EXPECT_EQ(fingerprint(""), "cbf29ce484222325");
  EXPECT_EQ(fingerprint("a"), "af63dc4c8601ec8c");
  EXPECT_EQ(fingerprint("foobar"), "85944171f73967e8");
}

}  // namespace
}  // namespace shardplan
