// How one einsum is partitioned. Sizes are small enough to check flops in the head: 2 · product of the local dims.
#include <gtest/gtest.h>

#include <compilers/load_compiler.hpp>
#include <cost_models/partition/products/einsum_plan.hpp>

#include "../partition_toys.hpp"

namespace shardplan {
namespace {

struct Product {
  Tensor lhs, rhs;
  Dims result;
};

// [batch 8, embed 4] x [embed 4, mlp 16] -> [batch 8, mlp 16]: 1024 flops whole.
Product projection() {
  const TensorDim batch{Dim::batch, 8}, embed{Dim::embed, 4}, mlp{Dim::mlp, 16};
  return {toy_tensor({batch, embed}), toy_tensor({embed, mlp}), {batch, mlp}};
}

// [experts 8, batch 8, capacity 2, embed 4] x [experts 8, embed 4, mlp 16]: 16384 flops whole.
Product expert_projection() {
  const TensorDim experts{Dim::experts, 8}, batch{Dim::batch, 8}, capacity{Dim::capacity, 2}, embed{Dim::embed, 4},
      mlp{Dim::mlp, 16};
  return {toy_tensor({experts, batch, capacity, embed}),
          toy_tensor({experts, embed, mlp}),
          {experts, batch, capacity, mlp}};
}

struct EinsumRow {
  const char *what, *mesh, *lhs, *rhs, *target;
  const char *used_lhs, *used_rhs, *result, *partial;
  double flops;
};

void expect_plans(const Product& product, std::initializer_list<EinsumRow> rows) {
  for (const auto& row : rows) {
    SCOPED_TRACE(row.what);
    const Mesh mesh = toy_mesh(row.mesh);
    const Compiler plain = load_compiler("plain");
    const bool constrained = row.target != nullptr;
    const PartitionSpec target = constrained ? spec(row.target, mesh) : PartitionSpec{};
    const EinsumPlan plan = plan_einsum({&product.lhs, spec(row.lhs, mesh)}, {&product.rhs, spec(row.rhs, mesh)},
                                        product.result, constrained ? &target : nullptr, mesh, plain);
    EXPECT_EQ(text(plan.lhs, mesh), row.used_lhs);
    EXPECT_EQ(text(plan.rhs, mesh), row.used_rhs);
    EXPECT_EQ(text(plan.result.spec, mesh), row.result);
    EXPECT_EQ(names(plan.result.partial, mesh, " "), row.partial);
    EXPECT_DOUBLE_EQ(plan.shape.flops().value, row.flops);
  }
}

TEST(EinsumPlan, OfAProjection) {
  expect_plans(projection(),
               {
                   {"nothing split", "fsdp=1", "-|-", "-|-", "-|-", "-|-", "-|-", "-|-", "-", 1024},
                   {"fsdp: tokens keep the axis, the weight is gathered", "fsdp=4", "fsdp|-", "fsdp|-", "fsdp|-",
                    "fsdp|-", "-|-", "fsdp|-", "-", 256},
                   {"data: the weight is whole already", "data=4", "data|-", "-|-", "data|-", "data|-", "-|-", "data|-",
                    "-", 256},
                   {"tensor, column: the result inherits the split", "tensor=2", "-|-", "-|tensor", "-|tensor", "-|-",
                    "-|tensor", "-|tensor", "-", 512},
                   {"tensor, column, hidden state split over embed: it is gathered", "tensor=2", "-|tensor", "-|tensor",
                    "-|tensor", "-|-", "-|tensor", "-|tensor", "-", 512},
                   {"tensor, row: both contracted dims split, a partial sum", "tensor=2", "-|tensor", "tensor|-", "-|-",
                    "-|tensor", "tensor|-", "-|-", "tensor", 512},
                   {"tensor, row, result split elsewhere: still a partial sum, to be scattered", "tensor=2", "-|tensor",
                    "tensor|-", "-|tensor", "-|tensor", "tensor|-", "-|-", "tensor", 512},
                   {"fsdp and tensor together", "fsdp=4,tensor=2", "fsdp|tensor", "fsdp|tensor", "fsdp|tensor",
                    "fsdp|-", "-|tensor", "fsdp|tensor", "-", 128},
                   {"two axes of one dim keep their order", "fsdp=2,expert=2", "expert fsdp|-", "-|-", "expert fsdp|-",
                    "expert fsdp|-", "-|-", "expert fsdp|-", "-", 256},
                   {"contracted dim split on the left only: gathered, the right is not sliced", "fsdp=2", "-|fsdp",
                    "-|-", "-|-", "-|-", "-|-", "-|-", "-", 1024},
                   {"contracted dim split on the right only: likewise", "fsdp=2", "-|-", "fsdp|-", "-|-", "-|-", "-|-",
                    "-|-", "-", 1024},
                   {"contracted on the right only, tokens of the left wanted: sliced there", "fsdp=4", "-|-", "fsdp|-",
                    "fsdp|-", "fsdp|-", "-|-", "fsdp|-", "-", 256},
                   {"contracted on the left only, a feature of the right wanted: whole, the result is sliced", "fsdp=4",
                    "-|fsdp", "-|-", "-|fsdp", "-|-", "-|-", "-|-", "-", 1024},
                   {"only the result wants the axis: computed alike on all devices, then sliced", "fsdp=4", "-|-",
                    "-|-", "fsdp|-", "-|-", "-|-", "-|-", "-", 1024},
               });
}

TEST(EinsumPlan, WithoutATargetPrefersDimsOfTheResult) {
  expect_plans(
      projection(),
      {
          {"batch against contracted", "fsdp=4", "fsdp|-", "fsdp|-", nullptr, "fsdp|-", "-|-", "fsdp|-", "-", 256},
          {"contracted against mlp", "tensor=2", "-|tensor", "-|tensor", nullptr, "-|-", "-|tensor", "-|tensor", "-",
           512},
          {"batch (32 B whole) against mlp (64 B whole): the smaller operand moves", "tensor=2", "tensor|-", "-|tensor",
           nullptr, "-|-", "-|tensor", "-|tensor", "-", 512},
          {"both contracted", "tensor=2", "-|tensor", "tensor|-", nullptr, "-|tensor", "tensor|-", "-|-", "tensor",
           512},
          {"contracted on one side", "tensor=2", "-|tensor", "-|-", nullptr, "-|-", "-|-", "-|-", "-", 1024},
      });
}

// MaxText #4179: rule activation_batch_moe precedes activation_exp, so the batch dim takes the expert axis; the weights
// have it on experts. The constraint of the result says who gives way.
TEST(EinsumPlan, BatchAgainstExperts) {
  expect_plans(
      expert_projection(),
      {
          {"result split over batch: the expert weights are gathered", "expert=8", "-|expert|-|-", "expert|-|-",
           "-|expert|-|-", "-|expert|-|-", "-|-|-", "-|expert|-|-", "-", 2048},
          {"result split over experts: the tokens move", "expert=8", "-|expert|-|-", "expert|-|-", "expert|-|-|-",
           "expert|-|-|-", "expert|-|-", "expert|-|-|-", "-", 2048},
          {"tokens dispatched to their experts: nothing moves", "expert=8", "expert|-|-|-", "expert|-|-",
           "expert|-|-|-", "expert|-|-|-", "expert|-|-", "expert|-|-|-", "-", 2048},
          {"computed on experts although the result belongs to batch", "expert=8", "expert|-|-|-", "expert|-|-",
           "-|expert|-|-", "expert|-|-|-", "expert|-|-", "expert|-|-|-", "-", 2048},
          {"features that the result keeps split count with the experts", "expert=4,tensor=2", "expert|-|-|-",
           "expert|-|tensor", "-|expert|-|tensor", "expert|-|-|-", "expert|-|tensor", "expert|-|-|tensor", "-", 2048},
          {"features that it wants whole don't", "expert=4,tensor=2", "expert|-|-|-", "expert|-|tensor", "-|expert|-|-",
           "-|expert|-|-", "-|-|tensor", "-|expert|-|tensor", "-", 2048},
          {"tokens split over batch, experts wanted, weights whole: tokens move, weights are sliced", "expert=8",
           "-|expert|-|-", "-|-|-", "expert|-|-|-", "expert|-|-|-", "expert|-|-", "expert|-|-|-", "-", 2048},
          {"the result's batch covers the mesh, the experts don't: weights are gathered after all", "fsdp=2,expert=4",
           "expert|fsdp|-|-", "expert|-|-", "-|fsdp expert|-|-", "-|fsdp expert|-|-", "-|-|-", "-|fsdp expert|-|-", "-",
           2048},
          {"fsdp beside it is gathered off the weight", "fsdp=2,expert=4", "expert|fsdp|-|-", "expert|fsdp|-",
           "expert|fsdp|-|-", "expert|fsdp|-|-", "expert|-|-", "expert|fsdp|-|-", "-", 2048},
      });
}

TEST(EinsumPlan, PadsADimThatDoesNotDivide) {
  expect_plans(projection(), {{"8 rows over 3 devices are 3 a device", "data=3", "data|-", "-|-", "data|-", "data|-",
                               "-|-", "data|-", "-", 2 * 3 * 4 * 16}});
}

/// The gradient of a key projection: [batch 2, sequence, embed 4] x [batch 2, sequence, heads 2] -> [embed 4, heads 2].
Product weight_gradient(std::int64_t tokens) {
  const TensorDim batch{Dim::batch, 2}, sequence{Dim::sequence, tokens}, embed{Dim::embed, 4}, heads{Dim::kv_heads, 2};
  return {toy_tensor({batch, sequence, embed}), toy_tensor({batch, sequence, heads}), {embed, heads}};
}

// The input is whole along the sequence, the key's gradient is not. Gathered, one sequence of it has 2 numbers a token;
// the weight has 8.
TEST(EinsumPlan, AWholeOperandIsSlicedWhereItsCounterpartWouldOutgrowTheResult) {
  expect_plans(weight_gradient(8),
               {{"16 numbers against 8: partial sums over context too", "fsdp=2,context=2", "fsdp|-|-",
                 "fsdp|context|-", "fsdp context|-", "fsdp|context|-", "fsdp|context|-", "-|-", "fsdp context", 64},
                {"no other contracted dim is split: gathered, the input's features are sliced", "context=2", "-|-|-",
                 "-|context|-", "context|-", "-|-|context", "-|-|-", "context|-", "-", 128}});
  expect_plans(weight_gradient(4), {{"8 against 8: a tie gathers", "fsdp=2,context=2", "fsdp|-|-", "fsdp|context|-",
                                     "fsdp context|-", "fsdp|-|context", "fsdp|-|-", "context|-", "fsdp", 32}});
}

// [batch 2, embed 4] x [embed 4, mlp 16] -> [batch 2, mlp 16]: the weight has 64 numbers, the result 32; with batch 4 as
// many as the weight. 512 flops whole.
TEST(EinsumPlan, AnOperandThatWouldOutgrowAWholeResultIsNotGathered) {
  const auto small = [](std::int64_t sequences) {
    const TensorDim batch{Dim::batch, sequences}, embed{Dim::embed, 4}, mlp{Dim::mlp, 16};
    return Product{toy_tensor({batch, embed}), toy_tensor({embed, mlp}), {batch, mlp}};
  };
  expect_plans(small(2), {{"64 against 32: partial sums", "context=2", "-|-", "context|-", "-|-", "-|context", "context|-",
                           "-|-", "context", 128},
                          {"fsdp has to leave: gathered over both", "fsdp=2,context=2", "fsdp|-", "fsdp context|-",
                           "fsdp|-", "fsdp|-", "-|-", "fsdp|-", "-", 128}});
  expect_plans(small(4), {{"a tie gathers", "context=2", "-|-", "context|-", "-|-", "-|-", "-|-", "-|-", "-", 512}});
}

// The output projection of experts under fsdp and context, tokens that only fsdp splits. 1024 flops whole.
TEST(EinsumPlan, AnOperandThatOneAxisLeavesIsGatheredWhole) {
  expect_plans(projection(), {{"the result wants neither", "fsdp=2,context=2", "fsdp|-", "-|fsdp context", "fsdp|-",
                               "fsdp|-", "-|-", "fsdp|-", "-", 512},
                              {"it wants the other one there", "fsdp=2,context=2", "fsdp|-", "-|fsdp context",
                               "fsdp|context", "fsdp|-", "-|context", "fsdp|context", "-", 256}});
}

// The gradient of a router: [batch 8, embed 4] x [batch 8, experts 8] -> [embed 4, experts 8], 512 flops whole. fsdp
// could stay on the contracted batch, but expert has to leave it: both go to the embed dim, which only the tokens have.
TEST(EinsumPlan, WhatLeavesAContractedDimGoesWhereOnlyItsOperandHasIt) {
  const TensorDim batch{Dim::batch, 8}, embed{Dim::embed, 4}, experts{Dim::experts, 8};
  const Product router{toy_tensor({batch, embed}), toy_tensor({batch, experts}), {embed, experts}};
  expect_plans(router, {{"both", "fsdp=2,expert=2", "fsdp expert|-", "fsdp|-", "fsdp expert|-", "-|fsdp expert", "-|-",
                         "fsdp expert|-", "-", 128}});
}

}  // namespace
}  // namespace shardplan
