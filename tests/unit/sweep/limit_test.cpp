#include <gmock/gmock.h>

#include <planner/sweep/plan_cell.hpp>
#include <shardplan/configuration.hpp>
#include <tests/unit/search/requests.hpp>

namespace shardplan {
namespace {

/// A step of 10 s on fsdp=8 with 16 sequences of 2,048 tokens, two units of the batch.
Evaluation losing(double exposed, double bubble, double host, double exposed_for_weights = 0) {
  Evaluation e;
  auto configuration = std::make_shared<Configuration>();
  configuration->rules = load_rules("default");
  e.mesh = parse_mesh("fsdp=8", configuration->rules.mesh_axes);
  e.configuration = configuration;
  e.global_batch_tokens = 16 * 2048;
  e.time.compute = {10 - exposed - bubble - host};
  e.time.exposed_collective = {exposed};
  e.time.bubble = {bubble};
  e.time.exposed_host = {host};
  Collective weights;
  weights.parameter = true;
  weights.exposed = {exposed_for_weights};
  e.collectives = {weights};
  return e;
}

TEST(SweepLimit, IsWhatTheStepLosesMostBy) {
  PlanRequest open, tight, fixed;
  tight.max_batch_tokens = 20 * 2048;  // the next batch has 24 sequences
  fixed.global_batch_tokens = 16 * 2048;
  const struct {
    Evaluation plan;
    PlanRequest request;
    Limit limit;
    const char* why;
  } rows[] = {
      {losing(0.5, 0.2, 0.2), open, Limit::compute, "less than a tenth is lost"},
      {losing(2, 1, 1), open, Limit::exposed_communication, "of activations: a larger batch has more of it"},
      {losing(2, 1, 1, 1.5), open, Limit::memory, "of weights: a larger batch has no room"},
      {losing(2, 1, 1, 1.5), tight, Limit::batch, "of weights: a larger batch is not allowed"},
      {losing(2, 1, 1, 1.5), fixed, Limit::batch, "of weights: the batch is fixed"},
      {losing(1, 2, 1), open, Limit::bubble, "the pipeline's"},
      {losing(1, 2, 1), tight, Limit::batch, "more microbatches would fill it, but are not allowed"},
      {losing(1, 1, 2), tight, Limit::host_transfers, "to the host's memory"},
  };
  for (const auto& row : rows) EXPECT_EQ(limit_of(row.plan, row.request), row.limit) << row.why;
}

TEST(SweepLimit, NamesAreDistinct) {
  std::set<std::string_view> names;
  for (int i = 0; i <= static_cast<int>(last_limit); ++i) names.insert(name_of(static_cast<Limit>(i)));
  EXPECT_EQ(names.size(), static_cast<std::size_t>(last_limit) + 1);
}

}  // namespace
}  // namespace shardplan
