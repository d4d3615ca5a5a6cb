#include <gmock/gmock.h>

#include <audit/hlo/hlo_shape.hpp>

namespace shardplan {
namespace {

using testing::ElementsAre;

TEST(HloShape, Bytes) {
  struct Row {
    const char* shape;
    std::int64_t bytes;
  };
  for (const auto& [shape, bytes] : {
           Row{"f32[]", 4},
           Row{"f32[]{:T(128)}", 4},
           Row{"bf16[8,4096]{1,0:T(8,128)(2,1)S(1)}", 65536},
           Row{"pred[3]", 3},
           Row{"s4[3]", 2},
           Row{"f8e4m3fn[16]{0}", 16},
           Row{"c128[2]", 32},
           Row{"s32[<=10]{0}", 40},
           Row{"f32[0]", 0},
           Row{"token[]", 0},
           Row{"(f32[4]{0}, /*index=1*/u32[]{:S(2)})", 20},
           Row{"((f32[4]), bf16[2,2]{1,0})", 24},
           Row{"()", 0},
       })
    EXPECT_EQ(bytes_of_shape(shape), bytes) << shape;
}

// gpt-oss over fsdp=8: 360 features of a shard lie in three registers of 128 lanes.
TEST(HloShape, BytesInTiles) {
  const std::pair<const char*, std::int64_t> rows[] = {
      {"f32[360,4,8,96]{0,3,2,1:T(8,128)}", 4LL * 384 * 4 * 8 * 96},
      {"f32[8,4,96]{2,1,0:T(4,128)}", 4LL * 8 * 4 * 128},
      {"bf16[8,4096]{1,0:T(8,128)(2,1)S(1)}", 2LL * 8 * 4096},
      {"f32[2880]{0:T(1024)}", 4LL * 3072},
      {"f32[]{:T(128)}", 4},
      {"f32[4,4]{1,0}", 64},
      {"f32[4,4]{1,0:T(*,128)}", 64},
      {"f32[4,4]{1:T(8,128)}", 64},
      {"f32[4,4]{7,9:T(8,128)}", 64},
      {"f32[4]{0:T(9223372036854775807)}", 16},
      {"(f32[4]{0:T(128)}, u32[])", 20},
  };
  for (const auto& [shape, bytes] : rows) EXPECT_EQ(bytes_in_tiles(shape), bytes) << shape;
  EXPECT_EQ(bytes_in_tiles("f32[x]{0:T(128)}"), std::nullopt);
}

TEST(HloShape, AnythingElseHasNone) {
  for (const auto* shape :
       {"", "f32", "f33[4]", "f32[4", "f32[4,,4]", "f32[x]", "f32[-4]", "(f32[4]", "f32[4000000000,4000000000]"})
    EXPECT_EQ(bytes_of_shape(shape), std::nullopt) << shape;
}

TEST(HloShape, InShort) {
  EXPECT_EQ(short_shape("bf16[8,4096]{1,0:T(8,128)(2,1)}"), "bf16[8,4096]");
  EXPECT_EQ(short_shape("(f32[1], f32[2"), "(f32[1], f32[2");
  EXPECT_EQ(short_shape("(f32[1]{0}, f32[2]{0}, f32[3]{0}, f32[4]{0}, f32[5]{0})"), "(f32[1], f32[2], f32[3], 2 more)");
}

TEST(HloShape, ListsAreCutOutsideOfBrackets) {
  EXPECT_THAT(split_list("{0,1}, [2,3], /*index=2*/%x, \"a,b\""), ElementsAre("{0,1}", "[2,3]", "%x", "\"a,b\""));
}

}  // namespace
}  // namespace shardplan
