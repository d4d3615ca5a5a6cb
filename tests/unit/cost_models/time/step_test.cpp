#include <gmock/gmock.h>

#include <cost_models/time/step_time.hpp>
#include <shardplan/error.hpp>

#include "time_toys.hpp"

namespace shardplan {
namespace {

using enum CollectiveKind;

constexpr BlockId layers = 0, layers_local = 1;

/// An operation of a toy block: on 100 TFLOP/s so many seconds.
OperationWork seconds_of_work(double forward, double backward) {
  OperationWork work;
  work.kind = WorkKind::matmul;
  work.forward = {forward * 100e12};
  work.backward = {backward * 100e12};
  return work;
}

/// Two stacks on the toy machine, each run once a step. "layers": two products, 4 and 6 s forward, as long again, and
/// twice as long backward, half of it for each gradient; the second reads what the first makes. "layers_local": one, 1 s
/// forward and 2 s backward.
struct PricedToy {
  std::vector<Block> shapes = std::vector<Block>(2);
  std::vector<PartitionedBlock> blocks = std::vector<PartitionedBlock>(2);
  std::vector<Collective> collectives;
  Program program;
  TrainConfig config;
  Compiler compiler = toy_compiler();
  HardwareProfile machine = toy_machine();
  HostTraffic host = HostTraffic::none(2);
  VectorWork update;
  std::vector<OperationWork> update_products;

  PricedToy() {
    shapes[0].name = "layers";
    shapes[1].name = "layers_local";
    for (std::size_t i = 0; i < 2; ++i) blocks[i].block = &shapes[i];
    shapes[0].tensors.resize(5);
    shapes[0].operations = {{OpKind::einsum, "first", {0, 1}, 2}, {OpKind::einsum, "second", {2, 3}, 4}};
    shapes[1].tensors.resize(3);
    shapes[1].operations = {{OpKind::einsum, "only", {0, 1}, 2}};
    for (PartitionedBlock& block : blocks) block.layout = std::make_shared<BlockLayout>(BoundBlock{block.block, {}});
    blocks[0].layout->work = {seconds_of_work(4, 8), seconds_of_work(6, 12)};
    blocks[0].liveness.recomputed = {true, true};
    blocks[1].layout->work = {seconds_of_work(1, 2)};
    blocks[1].liveness.recomputed = {false};
  }

  StepTime time() const {
    return schedule_step({blocks, collectives, program, compiler, machine, host, update, {8600e12}, 860, 2,
                          update_products})
        .time;
  }

  Collective& communicate(Phase phase, CollectiveKind kind, bool parameter, double seconds, BlockId block,
                          OperationId operation = 0) {
    Collective c;
    c.phase = phase;
    c.kind = kind;
    c.parameter = parameter;
    c.seconds = {seconds};
    c.block = block;
    c.operation = operation;
    return collectives.emplace_back(std::move(c));
  }
};

TEST(StepTime, WithoutCommunicationIsItsCompute) {
  const StepTime time = PricedToy().time();
  EXPECT_DOUBLE_EQ(time.compute.value, 43);
  EXPECT_DOUBLE_EQ(time.step().value, 43);
  EXPECT_DOUBLE_EQ(time.tokens_per_second_per_device, 10);  // 860 tokens / (43 s · 2 devices)
  EXPECT_DOUBLE_EQ(time.model_flops_utilization, 1);        // 8600 TFLOP / (43 s · 2 · 100 TFLOP/s)
}

TEST(StepTime, HostCopiesHideBehindTheirOwnBody) {
  PricedToy step;
  step.machine.host_link_bandwidth = Figure{10e9, "GB/s", "toy", Basis::assumed};
  step.host.activations[0] = Bytes{120'000'000'000};  // 12 s each way: behind 10 s forward, 30 s backward
  step.host.optimizer = Bytes{5'000'000'000};         // 0.5 s in and 0.5 s out, behind no compute of the update
  const StepTime time = step.time();
  EXPECT_DOUBLE_EQ(time.exposed_host.value, 2 + 1);
  EXPECT_DOUBLE_EQ(time.hidden_host.value, 10 + 12);
  EXPECT_DOUBLE_EQ(time.step().value, 43 + 3);
}

TEST(StepTime, HostCopiesRunWhileComputeWaitsForCollectives) {
  PricedToy step;
  step.machine.host_link_bandwidth = Figure{10e9, "GB/s", "toy", Basis::assumed};
  step.host.activations[0] = Bytes{120'000'000'000};  // 12 s: 10 s of forward compute and 1.5 s of waiting hide most
  step.communicate(Phase::forward, CollectiveKind::all_reduce, false, 1.5, 0);
  const StepTime time = step.time();
  EXPECT_DOUBLE_EQ(time.exposed_collective.value, 1.5);
  EXPECT_DOUBLE_EQ(time.exposed_host.value, 0.5);
  EXPECT_DOUBLE_EQ(time.step().value, 43 + 1.5 + 0.5);
  EXPECT_DOUBLE_EQ(time.if_all_hid.value, 43 + 2) << "the copies show then";
  EXPECT_DOUBLE_EQ(time.if_none_hid.value, 43 + 2);
}

struct Overlapped {
  Phase phase;
  CollectiveKind kind;
  bool parameter;
  OperationId operation;
  TensorId tensor;
  Cause cause;
  double seconds, exposed;
};

using enum Phase;
constexpr Cause layout = Cause::operand_layout, sum = Cause::activation_gradient_sum, partial = Cause::contracted_dim_split;
const Overlapped overlapped[] = {
    {forward, all_gather, true, 1, 3, layout, 3, 0},                  // the second weight, behind the first product's 4 s
    {forward, all_gather, true, 1, 3, layout, 9, 5},                  //
    {forward, all_gather, true, 0, 1, layout, 3, 3},                  // the first weight: nothing in front of it
    {rematerialized_forward, all_gather, true, 1, 3, layout, 9, 5},   // behind the first product's recomputation
    {backward, all_gather, true, 1, 3, layout, 12, 2},                // before its gradients: behind 10 s of recomputation
    {backward, reduce_scatter, true, 1, 3, layout, 10, 2},            // behind the first product's gradients, 8 s
    {backward, all_reduce, true, 0, 1, layout, 2, 2},                 // the last gradient: nothing comes behind it
    {forward, all_gather, false, 1, 2, layout, 8, 8},                 // what the first product makes is waited for
    {forward, reduce_scatter, false, 0, 2, partial, 8, 8},            //
    {backward, reduce_scatter, false, 1, 2, sum, 5, 0},               // behind the gradient of the second weight, 6 s
    {backward, reduce_scatter, false, 1, 2, sum, 8, 2},               //
    {forward, ragged_all_to_all, false, 1, 2, layout, 10, 10},        // synchronous
    {optimizer, all_gather, true, 0, 1, layout, 3, 3},                // no layer to hide behind any more
};

TEST(StepTime, HidesWhatTheScheduleHasStepsFor) {
  for (const auto& row : overlapped) {
    PricedToy toy;
    Collective& c = toy.communicate(row.phase, row.kind, row.parameter, row.seconds, layers, row.operation);
    c.tensor = row.tensor;
    c.cause = row.cause;
    const StepTime time = toy.time();
    const std::string what =
        std::string(name_of(row.phase)) + " " + std::string(name_of(row.kind)) + " " + std::to_string(row.seconds);
    EXPECT_NEAR(time.exposed_collective.value, row.exposed, 1e-9) << what;
    EXPECT_NEAR(time.hidden_collective.value, row.seconds - row.exposed, 1e-9) << what;
    EXPECT_NEAR(time.compute.value, 43, 1e-9) << what;
    EXPECT_NEAR(time.step().value, 43 + row.exposed, 1e-9) << what;
  }
}

TEST(StepTime, AWindowLimitsHowEarlyAWeightIsGathered) {
  PricedToy toy;
  toy.communicate(Phase::backward, all_gather, true, 12, layers, 1);  // 10 s of recomputation in front of its use
  EXPECT_NEAR(toy.time().exposed_collective.value, 2, 1e-9);
  toy.compiler.overlap.window = 1;  // only the second product's recomputation, 6 s
  EXPECT_NEAR(toy.time().exposed_collective.value, 6, 1e-9);
}

TEST(StepTime, AWindowMayBeAsWideAsItsGatherTakes) {
  PricedToy toy;
  Collective& gather = toy.communicate(Phase::backward, all_gather, true, 12, layers, 1);
  toy.compiler.overlap.window = 1;
  toy.compiler.overlap.window_covers_gather = true;
  EXPECT_NEAR(toy.time().exposed_collective.value, 2, 1e-9);  // 12 s are more than the 10 s in front of its use
  gather.seconds = {5};
  EXPECT_NEAR(toy.time().exposed_collective.value, 0, 1e-9);  // the second product's recomputation, 6 s, does
}

TEST(StepTime, AWindowOfASumIsOfKernelsAlone) {
  PricedToy toy;
  toy.communicate(Phase::backward, reduce_scatter, true, 12, layers, 1);
  toy.compiler.overlap.window = 1;
  const double kernels = toy.time().exposed_collective.value;
  toy.compiler.overlap.window_covers_gather = true;
  EXPECT_EQ(toy.time().exposed_collective.value, kernels);
  EXPECT_GT(kernels, 0);
}

/// 6 s of copies each way, of which the layers' input takes 1 and the longest other 2.
TEST(StepTime, OfHostCopiesAsMuchHidesAsTheCompilerSays) {
  PricedToy step;
  step.machine.host_link_bandwidth = Figure{10e9, "GB/s", "toy", Basis::assumed};
  step.host.activations[0] = Bytes{60'000'000'000};
  step.host.inputs[0] = Bytes{10'000'000'000};
  step.host.longest[0] = Bytes{20'000'000'000};
  EXPECT_NEAR(step.time().exposed_host.value, 0, 1e-9);
  step.compiler.overlap.host_copies = HostCopies::longest;
  EXPECT_NEAR(step.time().exposed_host.value, 4 + 4, 1e-9);
  EXPECT_NEAR(step.time().if_all_hid.value, 43 + 8, 1e-9) << "of collectives, of which there are none";
  EXPECT_NEAR(step.time().if_none_hid.value, 43 + 8, 1e-9);
  step.compiler.overlap.host_copies = HostCopies::backward;
  EXPECT_NEAR(step.time().exposed_host.value, 3, 1e-9);
  EXPECT_NEAR(step.time().hidden_host.value, 3 + 6, 1e-9);
}

TEST(StepTime, SaysOfEachCollectiveWhatItExposes) {
  PricedToy toy;
  toy.communicate(Phase::forward, all_gather, true, 9, layers, 1);
  toy.communicate(Phase::forward, all_gather, true, 3, layers, 0);
  const auto step = schedule_step({toy.blocks, toy.collectives, toy.program, toy.compiler, toy.machine, toy.host,
                                   toy.update, {8600e12}, 860, 2});
  ASSERT_EQ(step.exposed.size(), 2U);
  EXPECT_NEAR(step.exposed[0].value, 5, 1e-9);  // from second 3 on the channel is its own, its product begins at 7
  EXPECT_NEAR(step.exposed[1].value, 3, 1e-9);
}

TEST(StepTime, PartsOfTheComputeAddUp) {
  PricedToy toy;
  toy.update = vector_work({1, 7}, 1e9, DType::f32);
  const StepTime time = toy.time();
  EXPECT_NEAR(time.parts.matmul.value, 43, 1e-9);
  EXPECT_NEAR(time.parts.optimizer.value, 0.028, 1e-9);
  EXPECT_NEAR(time.parts.total().value, time.compute.value, 1e-9);
}

TEST(StepTime, BlocksRunAsOftenAsTheyExecute) {
  PricedToy toy;
  toy.shapes[0].executions = 3;
  EXPECT_DOUBLE_EQ(toy.time().compute.value, 3 * 40 + 3);
}

TEST(StepTime, WeightsThatMoveOnceAStepAreExposed) {
  PricedToy toy;
  toy.shapes[0].executions = 3;
  toy.communicate(Phase::forward, all_gather, true, 6, layers, 1);
  EXPECT_DOUBLE_EQ(toy.time().exposed_collective.value, 6);
  toy.collectives[0].executions = 3;  // 2 s a run
  EXPECT_DOUBLE_EQ(toy.time().exposed_collective.value, 0);
}

TEST(StepTime, UpdateMovesItsBytesAndHidesItsOwnGathers) {
  PricedToy toy;
  toy.update.traffic = {2'000'000'000'000};  // 2 s
  toy.communicate(Phase::optimizer, all_gather, true, 3, layers);
  EXPECT_DOUBLE_EQ(toy.time().compute.value, 45);
  EXPECT_DOUBLE_EQ(toy.time().hidden_collective.value, 2);
  EXPECT_DOUBLE_EQ(toy.time().exposed_collective.value, 1);
}

// Where matrices are worked on one after the other, a step of Newton-Schulz waits for what the one before leads to; where
// all at once, for others' products.
TEST(StepTime, NewtonSchulzMultipliesBesideGathersOfOtherMatrices) {
  PricedToy toy;
  toy.update_products = {seconds_of_work(2, 0), seconds_of_work(3, 0)};
  EXPECT_DOUBLE_EQ(toy.time().parts.optimizer.value, 5);
  toy.communicate(Phase::optimizer, all_gather, true, 4, layers).cause = Cause::newton_schulz_matrix;
  toy.compiler.habits.remove(Habit::orthogonalizes_matrices_together);
  EXPECT_DOUBLE_EQ(toy.time().exposed_collective.value, 4);
  toy.compiler.habits.add(Habit::orthogonalizes_matrices_together);
  EXPECT_DOUBLE_EQ(toy.time().exposed_collective.value, 0);
}

struct Bubble {
  PipelineShape pipeline;  ///< stages, microbatches, repeats, layers per stage, delay
  double share;
};

constexpr Bubble bubbles[] = {
    {{1, 1, 1, 1, 1}, 0},         // no pipeline
    {{4, 8, 1, 1, 1}, 3.0 / 11},  //
    {{4, 4, 1, 1, 1}, 3.0 / 7},   //
    {{4, 8, 2, 1, 1}, 3.0 / 19},  // repeats shrink it
    {{4, 8, 1, 1, 2}, 6.0 / 14},  // delayed forwarding doubles it
    {{2, 3, 1, 1, 1}, 1.0 / 4},   //
};

TEST(StepTime, BubbleIsTheShareOfEmptyIterations) {
  for (const auto& row : bubbles)
    EXPECT_DOUBLE_EQ(bubble_share(row.pipeline), row.share)
        << row.pipeline.stages << " stages, " << row.pipeline.microbatches << " microbatches, " << row.pipeline.repeats
        << " repeats";
}

TEST(StepTime, BubbleTakesItsShareOfPipelinedBlocksOnly) {
  PricedToy toy;
  toy.program.pipeline = {2, 3, 1, 1, 1};  // a quarter
  toy.shapes[0].in_pipeline = true;
  toy.communicate(Phase::forward, all_to_all, false, 4, layers);
  toy.communicate(Phase::forward, all_to_all, false, 4, layers_local);
  const StepTime time = toy.time();
  EXPECT_DOUBLE_EQ(time.compute.value, 30 + 3);
  EXPECT_DOUBLE_EQ(time.exposed_collective.value, 3 + 4);
  EXPECT_DOUBLE_EQ(time.bubble.value, 10 + 1);
  EXPECT_DOUBLE_EQ(time.step().value, 43 + 8);
}

TEST(StepTime, RefusesACollectiveOfNoBlock) {
  for (const BlockId block : {-1, 2}) {
    PricedToy toy;
    toy.communicate(Phase::forward, all_gather, true, 3, block);
    EXPECT_THROW(toy.time(), InternalError) << block;
  }
}

TEST(StepTime, RefusesAnEmptyStep) {
  PricedToy toy;
  for (auto& block : toy.blocks) block.layout->work.clear();
  EXPECT_THROW(toy.time(), InternalError);
}

}  // namespace
}  // namespace shardplan
