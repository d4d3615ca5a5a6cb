// Divisibility as a walk over a bound program: any activation with a constraint, in program order, under its own name.
#include <gtest/gtest.h>

#include <planner/constraints/divisibility.hpp>

namespace shardplan {
namespace {

const Mesh divided_mesh = parse_mesh("fsdp=4,tensor=3", {"fsdp", "tensor"});

Tensor tensor(std::string name, TensorDim dim, LogicalName logical) {
  Tensor made;
  made.name = std::move(name);
  made.dims = {dim};
  made.constraint.axes = {logical};
  return made;
}

std::optional<Infeasible> violation_of(const std::vector<Tensor>& tensors, const AxisList& axes) {
  Program program;
  program.blocks.emplace_back().tensors = tensors;
  BoundProgram bound{&program, &divided_mesh, {{&program.blocks.front(), {}}}, {}, {}};
  bound.blocks.front().specs.assign(tensors.size(), PartitionSpec{{axes}});
  return refused_activation(bound);
}

struct Row {
  Tensor tensor;
  AxisList axes;
  ConstraintId constraint;
  const char* message;
};

TEST(IndivisibleActivation, NamesTensorDimAndAxes) {
  for (const auto& [indivisible, axes, constraint, message] : {
           Row{tensor("toy input", {Dim::batch, 6}, "activation_batch"), {0}, ConstraintId::batch_divisibility,
               "6 sequences (activation_batch of the toy input) can't be split over fsdp=4"},
           Row{tensor("toy keys", {Dim::sequence, 100}, "activation_kv_length"), {0, 1}, ConstraintId::sequence_divisibility,
               "100 positions (activation_kv_length of the toy keys) can't be split over fsdp=4·tensor=3 = 12"},
           Row{tensor("toy state", {Dim::head_dim, 128}, "activation_kv"), {1}, ConstraintId::indivisible_dim,
               "a dim of 128 (activation_kv of the toy state) can't be split over tensor=3"},
       }) {
    const auto violation = violation_of({tensor("toy ids", {Dim::batch, 12}, "activation_batch"), indivisible}, axes);
    ASSERT_TRUE(violation) << message;
    EXPECT_EQ(violation->constraint, constraint);
    EXPECT_EQ(violation->message, message);
  }
}

TEST(IndivisibleActivation, LeavesWeightsToTheirOwnCheck) {
  Tensor weight = tensor("toy weight", {Dim::mlp, 10}, "mlp");
  weight.parameter = true;
  EXPECT_FALSE(violation_of({weight}, {0}));
  EXPECT_FALSE(violation_of({tensor("toy hidden", {Dim::mlp, 12}, "activation_mlp")}, {0, 1}));
}

}  // namespace
}  // namespace shardplan
