// Shapes of products as the texts of compilers give them.
#include <gmock/gmock.h>

#include <audit/timeline/kernels/product_dims.hpp>

namespace shardplan {
namespace {

std::string dims_of(const std::string& line, const std::string& left, const std::string& right) {
  const auto instruction = parse_instruction(line);
  if (!instruction) return "no instruction";
  const auto dims =
      product_dims(*instruction, array_shape(left), array_shape(right), array_shape(instruction->shape));
  if (!dims) return "none";
  return std::to_string(static_cast<int>(dims->groups)) + " x " + std::to_string(static_cast<int>(dims->m)) + "," +
         std::to_string(static_cast<int>(dims->n)) + "," + std::to_string(static_cast<int>(dims->k));
}

TEST(ProductDims, OfADot) {
  EXPECT_EQ(dims_of("%d = bf16[6144,4096]{1,0} dot(%a, %b), lhs_contracting_dims={0}, rhs_contracting_dims={1}",
                    "bf16[512,6144]", "bf16[4096,512]"),
            "1 x 6144,4096,512");
  EXPECT_EQ(dims_of("%d = bf16[8,4096,16]{2,1,0} dot(%a, %b), lhs_batch_dims={0}, lhs_contracting_dims={2}, "
                    "rhs_batch_dims={0}, rhs_contracting_dims={1}",
                    "bf16[8,4096,128]", "bf16[8,128,16]"),
            "8 x 4096,16,128");
}

TEST(ProductDims, OfACublasCall) {
  EXPECT_EQ(
      dims_of("%c = (bf16[8,64,14336]{2,1,0}, s8[4194304]{0}) custom-call(%a, %b), custom_call_target=\"x\", "
              "backend_config={\"gemm_backend_config\":{\"dot_dimension_numbers\":{\"lhs_contracting_dimensions\":"
              "[\"2\"],\"rhs_contracting_dimensions\":[\"1\"],\"lhs_batch_dimensions\":[\"0\"],"
              "\"rhs_batch_dimensions\":[\"0\"]}}}",
              "bf16[8,64,4096]", "bf16[8,4096,14336]"),
      "8 x 64,14336,4096");
}

/// Labels of recorded programs: a batch dim, a free dim that the left or right operand has, one that is summed.
TEST(ProductDims, OfConvolutionsThatStandForProducts) {
  EXPECT_EQ(dims_of("%c = bf16[64,32]{1,0} convolution(%a, %b), dim_labels=bf_io->bf", "bf16[64,128]", "bf16[128,32]"),
            "1 x 64,32,128");
  EXPECT_EQ(dims_of("%c = bf16[8,64,32]{2,1,0} convolution(%a, %b), window={size=8}, dim_labels=0bf_0io->0bf",
                    "bf16[8,64,128]", "bf16[8,128,32]"),
            "8 x 64,32,128");
  EXPECT_EQ(dims_of("%c = bf16[4096,32,128]{2,0,1} convolution(%a, %b), window={size=32 pad=31_31 rhs_reversal=1}, "
                    "dim_labels=bf0_i0o->b0f",
                    "bf16[4096,512,1]", "bf16[512,32,128]"),
            "1 x 4096,4096,512");
  EXPECT_EQ(dims_of("%c = bf16[4096,512,1]{0,1,2} convolution(%a, %b), window={size=32}, dim_labels=b0f_0io->bf0",
                    "bf16[4096,32,128]", "bf16[32,128,512]"),
            "1 x 4096,512,4096");
  EXPECT_EQ(dims_of("%c = bf16[8,64,32]{2,1,0} convolution(%a, %b), dim_labels=0bf_io0->0bf", "bf16[8,64,128]",
                    "bf16[128,32,1]"),
            "1 x 512,32,128");
}

TEST(ProductDims, NarrowOperandsAreKnown) {
  const auto line = parse_instruction("%d = s32[4,4]{1,0} dot(%a, %b), lhs_contracting_dims={1}, rhs_contracting_dims={0}");
  EXPECT_EQ(product_dims(*line, array_shape("s8[4,8]"), array_shape("s8[8,4]"), array_shape("s32[4,4]"))->narrow,
            DType::s8);
  EXPECT_EQ(product_dims(*line, array_shape("f8e4m3fn[4,8]"), array_shape("f8e5m2[8,4]"), array_shape("s32[4,4]"))->narrow,
            DType::f8);
  EXPECT_FALSE(product_dims(*line, array_shape("bf16[4,8]"), array_shape("s8[8,4]"), array_shape("s32[4,4]"))->narrow);
}

TEST(ProductDims, DimsThatDoNotFitAreNone) {
  EXPECT_EQ(dims_of("%d = bf16[4,4]{1,0} dot(%a, %b), lhs_contracting_dims={1}, rhs_contracting_dims={0}", "bf16[4,8]",
                    "bf16[9,4]"),
            "none");
  EXPECT_EQ(dims_of("%d = bf16[4,4]{1,0} dot(%a, %b), lhs_contracting_dims={5}, rhs_contracting_dims={0}", "bf16[4,8]",
                    "bf16[8,4]"),
            "none");
}

}  // namespace
}  // namespace shardplan
