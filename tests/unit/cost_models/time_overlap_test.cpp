#include <gmock/gmock.h>

#include <cost_models/time/overlap.hpp>

namespace shardplan {
namespace {

using enum CollectiveKind;

struct Body {
  double compute, synchronous, asynchronous;
  double hidden, exposed;
};

constexpr Body bodies[] = {
    {10, 0, 4, 4, 0},    // all of it hides
    {10, 0, 15, 10, 5},  // the excess is exposed
    {10, 3, 4, 4, 3},    // what the device waits for is exposed whatever there is to compute
    {10, 3, 15, 10, 8},  //
    {0, 3, 4, 0, 7},     // nothing to hide behind
};

TEST(Overlap, HidesAsynchronousTimeUpToTheCompute) {
  for (const auto& row : bodies) {
    const BodyTime body{{row.compute}, {row.synchronous}, {row.asynchronous}, {}};
    EXPECT_DOUBLE_EQ(body.hidden().value, row.hidden);
    EXPECT_DOUBLE_EQ(body.exposed().value, row.exposed);
  }
}

struct Share {
  CollectiveKind kind;
  bool parameter;
  std::int64_t forwarding_delay;
  double synchronous;
};

constexpr Share shares[] = {
    {all_gather, true, 1, 0},             // FSDP gathers
    {reduce_scatter, true, 1, 0},         // gradients
    {all_reduce, true, 1, 0},             //
    {all_gather, false, 1, 1},            // tensor- or context-parallel activations
    {all_reduce, false, 1, 1},            // norm statistics
    {all_to_all, false, 1, 1},            // expert dispatch, embedding
    {ragged_all_to_all, false, 1, 0.83},  //
    {reduce_scatter, false, 1, 0.37},     // tensor-parallel partial sums
    {collective_permute, false, 1, 1},    // the next stage waits
    {collective_permute, false, 2, 0},    // sent an iteration early
};

TEST(Overlap, KnowsWhatTheDeviceWaitsFor) {
  for (const auto& row : shares) {
    Collective c;
    c.kind = row.kind;
    c.parameter = row.parameter;
    PipelineShape pipeline;
    pipeline.forwarding_delay = row.forwarding_delay;
    EXPECT_DOUBLE_EQ(synchronous_share(c, pipeline, {0, 0.83, 0.37, 1}), row.synchronous)
        << name_of(row.kind) << (row.parameter ? " of a weight" : " of an activation");
  }
}

}  // namespace
}  // namespace shardplan
