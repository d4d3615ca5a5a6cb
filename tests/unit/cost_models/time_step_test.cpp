#include <gmock/gmock.h>

#include <cost_models/time/step_time.hpp>
#include <shardplan/error.hpp>

#include "time_toys.hpp"

namespace shardplan {
namespace {

using enum CollectiveKind;

constexpr BlockId layers = 0, layers_local = 1;

/// Two stacks on the toy machine, each run once a step: "layers" computes 10 s forward, 10 s again and 20 s backward,
/// "layers_local" 1 s forward and 2 s backward.
struct ToyStep {
  std::vector<Block> shapes = std::vector<Block>(2);
  std::vector<PartitionedBlock> blocks = std::vector<PartitionedBlock>(2);
  std::vector<Collective> collectives;
  Program program;
  TrainConfig config;
  Compiler compiler = toy_compiler();
  HardwareProfile machine = toy_machine();
  HostTraffic host = HostTraffic::none(2);
  Bytes optimizer_traffic;

  ToyStep() {
    shapes[0].name = "layers";
    shapes[1].name = "layers_local";
    for (std::size_t i = 0; i < 2; ++i) blocks[i].block = &shapes[i];
    blocks[0].work = {{"mlp", WorkKind::matmul, {10 * 100e12}, {20 * 100e12}, {}, {}, true}};
    blocks[1].work = {{"mlp", WorkKind::matmul, {1 * 100e12}, {2 * 100e12}, {}, {}, false}};
  }

  StepTime time() const {
    return step_time({blocks, collectives, program, config, compiler, machine, host, optimizer_traffic, {8600e12}, 860, 2});
  }

  void communicate(Phase phase, CollectiveKind kind, bool parameter, double seconds, BlockId block) {
    Collective c;
    c.phase = phase;
    c.kind = kind;
    c.parameter = parameter;
    c.seconds = {seconds};
    c.block = block;
    collectives.push_back(std::move(c));
  }
};

TEST(StepTime, WithoutCommunicationIsItsCompute) {
  const StepTime time = ToyStep().time();
  EXPECT_DOUBLE_EQ(time.compute.value, 43);
  EXPECT_DOUBLE_EQ(time.step().value, 43);
  EXPECT_DOUBLE_EQ(time.tokens_per_second_per_device, 10);  // 860 tokens / (43 s · 2 devices)
  EXPECT_DOUBLE_EQ(time.model_flops_utilization, 1);        // 8600 TFLOP / (43 s · 2 · 100 TFLOP/s)
}

TEST(StepTime, HostCopiesHideBehindTheirOwnBody) {
  ToyStep step;
  step.machine.host_link_bandwidth = Figure{10e9, "GB/s", "toy", Basis::assumed};
  step.host.activations[0] = Bytes{120'000'000'000};  // 12 s each way: behind 10 s forward, 30 s backward
  step.host.optimizer = Bytes{5'000'000'000};         // 0.5 s in and 0.5 s out, behind no compute of the update
  const StepTime time = step.time();
  EXPECT_DOUBLE_EQ(time.exposed_host.value, 2 + 1);
  EXPECT_DOUBLE_EQ(time.hidden_host.value, 10 + 12);
  EXPECT_DOUBLE_EQ(time.step().value, 43 + 3);
}

struct Overlapped {
  Phase phase;
  CollectiveKind kind;
  bool parameter;
  double seconds;
  BlockId block;
  double hidden, exposed;
};

using enum Phase;
const Overlapped overlapped[] = {
    {forward, all_gather, true, 8, layers, 8, 0},                   // behind 10 s of compute
    {forward, all_gather, true, 12, layers, 10, 2},                 //
    {rematerialized_forward, all_gather, true, 29, layers, 29, 0},  // one loop with the gradients: 10 + 20 s
    {backward, reduce_scatter, true, 35, layers, 30, 5},            //
    {forward, all_gather, true, 8, layers_local, 1, 7},             // its own compute only
    {backward, all_reduce, true, 2, layers_local, 2, 0},            //
    {forward, all_gather, false, 8, layers, 0, 8},                  // an activation is waited for
    {forward, ragged_all_to_all, false, 10, layers, 1.7, 8.3},      //
    {optimizer, all_gather, true, 3, layers, 0, 3},                 // no layer to hide behind any more
};

TEST(StepTime, HidesWeightTrafficBehindTheSameBlocksCompute) {
  for (const auto& row : overlapped) {
    ToyStep toy;
    toy.communicate(row.phase, row.kind, row.parameter, row.seconds, row.block);
    const StepTime time = toy.time();
    const std::string what = std::string(name_of(row.phase)) + " " + std::string(name_of(row.kind)) + " of block " + std::to_string(row.block);
    EXPECT_NEAR(time.hidden_collective.value, row.hidden, 1e-9) << what;
    EXPECT_NEAR(time.exposed_collective.value, row.exposed, 1e-9) << what;
    EXPECT_NEAR(time.compute.value, 43, 1e-9) << what;
    EXPECT_NEAR(time.step().value, 43 + row.exposed, 1e-9) << what;
  }
}

TEST(StepTime, CollectivesOfOneBodyShareItsCompute) {
  ToyStep toy;
  toy.communicate(Phase::forward, all_gather, true, 6, layers);
  toy.communicate(Phase::forward, all_gather, true, 6, layers);
  EXPECT_NEAR(toy.time().hidden_collective.value, 10, 1e-9);
  EXPECT_NEAR(toy.time().exposed_collective.value, 2, 1e-9);
}

TEST(StepTime, BlocksRunAsOftenAsTheyExecute) {
  ToyStep toy;
  toy.shapes[0].executions = 3;
  EXPECT_DOUBLE_EQ(toy.time().compute.value, 3 * 40 + 3);
}

TEST(StepTime, WeightsThatMoveOnceAStepAreExposed) {
  ToyStep toy;
  toy.shapes[0].executions = 3;
  toy.communicate(Phase::forward, all_gather, true, 4, layers);
  EXPECT_DOUBLE_EQ(toy.time().exposed_collective.value, 4);
  toy.collectives[0].executions = 3;
  EXPECT_DOUBLE_EQ(toy.time().exposed_collective.value, 0);
}

TEST(StepTime, UpdateMovesItsBytesAndHidesItsOwnGathers) {
  ToyStep toy;
  toy.optimizer_traffic = {2'000'000'000'000};  // 2 s
  toy.communicate(Phase::optimizer, all_gather, true, 3, layers);
  EXPECT_DOUBLE_EQ(toy.time().compute.value, 45);
  EXPECT_DOUBLE_EQ(toy.time().hidden_collective.value, 2);
  EXPECT_DOUBLE_EQ(toy.time().exposed_collective.value, 1);
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
  ToyStep toy;
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
    ToyStep toy;
    toy.communicate(Phase::forward, all_gather, true, 3, block);
    EXPECT_THROW(toy.time(), InternalError) << block;
  }
}

TEST(StepTime, RefusesAnEmptyStep) {
  ToyStep toy;
  for (auto& block : toy.blocks) block.work.clear();
  EXPECT_THROW(toy.time(), InternalError);
}

}  // namespace
}  // namespace shardplan
