#include <gmock/gmock.h>

#include <map>
#include <planner/constraints/constraints.hpp>
#include <planner/search/space/parallelism.hpp>
#include <planner/search/space/remat_order.hpp>
#include <rules/load_rules.hpp>

#include "requests.hpp"

namespace shardplan {
namespace {

std::map<std::string, int> count_by_rules(const SearchSpace& space, const Parallelisms& found) {
  std::map<std::string, int> count;
  for (const auto& p : found.list) ++count[space.rule_sets[p.rules].name];
  return count;
}

std::vector<std::string> constraints(const Parallelisms& found) {
  std::vector<std::string> names;
  for (const auto& rejection : found.rejections.sorted()) names.emplace_back(name_of(rejection.constraint));
  return names;
}

TEST(Parallelisms, RuleSetsThatShardAlikeAreSearchedOnce) {
  PlanRequest request = request_for("llama2-7b", "toy-switch", 8);
  request.rule_sets = rule_sets({"default"});
  const auto alone = enumerate_parallelisms(space_of(request)).list.size();
  request.rule_sets = rule_sets({"default", "pure-fsdp"});
  const SearchSpace space = space_of(request);
  // llama2-7b's own rules shard the norms over fsdp, which a custom set drops: another sharding.
  EXPECT_EQ(count_by_rules(space, enumerate_parallelisms(space))["pure-fsdp"], 1);
  request.model = load_model("llama3-8b");
  EXPECT_EQ(enumerate_parallelisms(space_of(request)).list.size(), alone);
}

// Two attempts of one mesh in a row have different programs where pipelines differ.
TEST(Parallelisms, DoNotDependOnHowManyProgramsAreRemembered) {
  SearchSpace space = space_of(request_for("llama2-7b", "toy-switch", 8));
  const Parallelisms all = enumerate_parallelisms(space);
  space.programs = std::make_shared<ProgramCache>(1);
  const Parallelisms forgetful = enumerate_parallelisms(space);
  EXPECT_EQ(constraints(forgetful), constraints(all));
  ASSERT_EQ(forgetful.list.size(), all.list.size());
  for (std::size_t i = 0; i < all.list.size(); ++i) {
    EXPECT_EQ(forgetful.list[i].mesh, all.list[i].mesh);
    EXPECT_EQ(forgetful.list[i].batches, all.list[i].batches);
  }
}

// Of the schedules of one sharding only what a schedule changes is looked at again.
TEST(Parallelisms, BreakNoConstraint) {
  struct Row {
    const char *model, *machine;
    int chips;
    std::vector<std::string> words;
  };
  const Row rows[] = {{"mixtral-8x7b", "h100", 16, {}},
                      {"llama2-7b", "tpu-7x", 8, {"per_device_batch_size=3"}},
                      {"deepseek2-16b", "tpu-v5p", 8, {"gradient_accumulation_steps=2"}},
                      {"qwen3-30b-a3b", "tpu-v6e", 8, {"quantization=fp8_full", "use_qwix_quantization=true"}},
                      {"llama3-8b", "mi355x", 8, {"num_vocab_tiling=8", "packing=false"}}};
  for (const auto& [model, machine, chips, words] : rows) {
    PlanRequest request = with_settings(request_for(model, machine, chips), words);
    request.rule_sets = rule_sets({"default", "ep-as-cp", "pipeline-large-moe"});
    const SearchSpace space = space_of(request);
    for (const Parallelism& p : enumerate_parallelisms(space).list) {
      const auto policies = policies_with(space, pipeline_stages(p.mesh));
      const auto broken =
          first_violation(configuration_of(space, p, space.remat_policies[policies.front()], p.batches.front()));
      EXPECT_FALSE(broken) << model << " " << describe(p.mesh) << ": " << broken->message;
    }
  }
}

TEST(Parallelisms, TheDispatchFlagIsTriedOnlyWhereItChangesASharding) {
  struct Row {
    std::string rules, mesh;
    std::vector<bool> expected;  // the flag of each parallelism
  };
  // Without the flag, default's batch dim would steal the expert axis of the dispatch.
  const Row rows[] = {
      {"default", "expert=8", {true}}, {"default", "fsdp=8", {false}}, {"ep-as-cp", "expert=8", {false}}};
  for (const auto& [rules, mesh, expected] : rows) {
    PlanRequest request = request_for("mixtral-8x7b", "toy-switch", 8);
    request.rule_sets = rule_sets({rules});
    request.mesh = parse_axis_sizes(mesh);
    request.moe_paths = {MoePath::dropping};
    std::vector<bool> found;
    for (const auto& p : enumerate_parallelisms(space_of(request)).list) found.push_back(p.dispatch_peeled);
    EXPECT_EQ(found, expected) << rules << " " << mesh;
  }
}

TEST(Parallelisms, DroppingHasACapacity) {
  struct Row {
    std::vector<std::string> settings;
    double expected;
  };
  const Row rows[] = {{{}, 1.25}, {{"capacity_factor=2"}, 2}};
  for (const auto& [settings, expected] : rows) {
    PlanRequest request = request_for("mixtral-8x7b", "toy-switch", 8);
    request = with_settings(request, settings);
    request.moe_paths = {MoePath::dropping};
    const SearchSpace space = space_of(request);
    const auto found = enumerate_parallelisms(space);
    ASSERT_FALSE(found.list.empty());
    const auto c = configuration_of(space, found.list.front(), {"full", {}}, {1, 1});
    EXPECT_EQ(c.config.capacity_factor, expected);
    EXPECT_EQ(c.config.moe_path, MoePath::dropping);
  }
}

TEST(Parallelisms, DroppingNeedsACapacityThatWasGiven) {
  for (const char* given : {"capacity_factor=-1", "capacity_factor=0"}) {
    PlanRequest request = with_settings(request_for("mixtral-8x7b", "toy-switch", 8), {given});
    request.moe_paths = {MoePath::dropping, MoePath::ragged};
    const auto found = enumerate_parallelisms(space_of(request));
    EXPECT_THAT(constraints(found), testing::Contains("moe-path")) << given;
    ASSERT_FALSE(found.list.empty());
    for (const auto& p : found.list) EXPECT_EQ(p.moe_path, MoePath::ragged) << given;
  }
}

TEST(Parallelisms, RejectionsNameTheConstraint) {
  using ::testing::Contains;
  using ::testing::Not;
  PlanRequest ring = request_for("mixtral-8x7b", "toy-switch", 8);
  ring.mesh = parse_axis_sizes("fsdp=8");
  ring.moe_paths = {MoePath::ring};
  EXPECT_THAT(constraints(enumerate_parallelisms(space_of(ring))), Contains("ring-needs-expert-parallelism"));

  PlanRequest torus = request_for("llama2-7b", "toy-torus", 64);  // 4x4x4
  torus.mesh = parse_axis_sizes("tensor=8,fsdp=8");
  const auto refused = enumerate_parallelisms(space_of(torus));
  EXPECT_THAT(constraints(refused), Contains("mesh-does-not-fit-torus"));
  EXPECT_TRUE(refused.list.empty());
  torus = with_settings(torus, {"allow_split_physical_axes=true"});
  EXPECT_FALSE(enumerate_parallelisms(space_of(torus)).list.empty());

  PlanRequest batch = request_for("llama2-7b", "toy-switch", 8);
  batch.mesh = parse_axis_sizes("fsdp=8");
  batch.per_device_batch = 0.5;
  EXPECT_THAT(constraints(enumerate_parallelisms(space_of(batch))), Contains("batch-divisibility"));

  PlanRequest path = request_for("gpt-oss-20b", "toy-switch", 8);
  path.moe_paths = {MoePath::dropping};
  EXPECT_THAT(constraints(enumerate_parallelisms(space_of(path))), Contains("moe-path"));

  PlanRequest offloaded = request_for("llama2-7b", "toy-switch", 8);
  offloaded.remat_policies = named_remat_policies({"full", "minimal_offloaded"});
  EXPECT_THAT(constraints(enumerate_parallelisms(space_of(offloaded))), Contains("host-traffic-not-priced"));
  EXPECT_FALSE(enumerate_parallelisms(space_of(offloaded)).list.empty());
  offloaded.remat_policies = named_remat_policies({"minimal_offloaded"});
  EXPECT_THAT(constraints(enumerate_parallelisms(space_of(offloaded))), Contains("host-traffic-not-priced"));
  EXPECT_TRUE(enumerate_parallelisms(space_of(offloaded)).list.empty());
}

}  // namespace
}  // namespace shardplan
