// The two facts that let the search leave candidates out (planner/search/explore/exploration.hpp), and that leaving them out
// loses nothing.
#include <fmt/format.h>
#include <gmock/gmock.h>

#include <cost_models/memory/state/least_memory.hpp>
#include <map>
#include <models/programs/train_program.hpp>
#include <planner/evaluate/evaluate.hpp>
#include <planner/search/explore/explore.hpp>
#include <planner/search/select.hpp>
#include <planner/search/space/alternatives.hpp>

#include "requests.hpp"

namespace shardplan {
namespace {

struct Machine {
  std::string model, machine;
  int chips;
};

SearchSpace wide_space(const Machine& machine) {
  PlanRequest request = request_for(machine.model, machine.machine, machine.chips);
  request.rule_sets = rule_sets({"default", "ep-as-cp", "shard-exp-on-fsdp"});
  request.remat_policies =
      named_remat_policies({"full", "save_out_proj", "save_qkv_proj", "minimal", "minimal_with_context"});
  return space_of(request);
}

const Machine machines[] = {
    {"llama3-8b", "tpu-v5p", 8}, {"mixtral-8x7b", "mi300x", 8}, {"deepseek2-16b", "tpu-v6e", 16}};

TEST(SearchBounds, MemoryGrowsAndTimeATokenFallsWithBatchAndSaving) {
  for (const auto& machine : machines) {
    const SearchSpace space = wide_space(machine);
    const RematOrder order = remat_order(space, policies_with(space, 1));
    const auto parallelisms = enumerate_parallelisms(space).list;
    for (std::size_t i = 0; i < parallelisms.size(); i += 7) {
      const auto& p = parallelisms[i];
      const auto cost = [&](std::size_t remat, std::size_t batch) {
        return cost_of(evaluate(configuration_of(space, p, space.remat_policies[remat], p.batches[batch])), space.required);
      };
      const std::string where = machine.model + " " + describe(p.mesh) + " " + space.rule_sets[p.rules].name;
      for (const std::size_t batch : {0u, 1u, 3u, 6u}) {
        for (std::size_t remat = 0; remat < space.remat_policies.size(); ++remat) {
          const Cost now = cost(remat, batch), next = cost(remat, batch + 1), last = cost(remat, p.batches.size() - 1);
          EXPECT_LE(now.peak, next.peak) << where;
          for (const Cost& larger : {next, last})
            EXPECT_LE(larger.seconds_per_token, now.seconds_per_token * time_slack) << where;
          if (batch > 0 && !next.far_too_large()) {
            EXPECT_LE(next.seconds_per_token, now.seconds_per_token * batch_slack) << where;
          }
          const Cost fastest = cost(order.fastest.front(), batch), after = cost(order.fastest.front(), batch + 1);
          EXPECT_LE(fastest.falling_seconds, now.seconds_per_token * fitting_slack) << where;
          if (batch > 0 && !next.far_too_large()) {
            EXPECT_LE(after.falling_seconds, now.seconds_per_token * fitting_slack) << where;
          }
          for (std::size_t smaller = 0; smaller < batch; ++smaller) {
            const double share = p.batches[smaller].per_device_batch_size / p.batches[batch].per_device_batch_size;
            EXPECT_TRUE(!now.is_too_large_with(share) || cost(remat, smaller).far_too_large()) << where;
          }
          EXPECT_LE(static_cast<double>(cost(order.smallest.front(), batch).peak),
                    memory_slack * static_cast<double>(now.peak))
              << where;
        }
      }
    }
  }
}

// Also where what a policy moves to the host stays on the device: in gemma4's global layers, and without a scan.
TEST(SearchBounds, PoliciesThatAreSaidToNeedLessMemoryDo) {
  struct Run {
    Machine machine;
    std::vector<std::string> words;
  };
  const Run runs[] = {{{"gemma4-31b", "tpu-v6e", 64}, {}},
                      {{"gemma4-26b", "tpu-7x", 16}, {}},
                      {{"gemma4-e2b", "tpu-v5p", 8}, {}},
                      {{"llama3.1-8b", "tpu-v5p", 8}, {"scan_layers=false"}},
                      {{"mixtral-8x7b", "tpu-v6e", 64}, {"scan_layers=false"}},
                      {{"mixtral-8x7b", "tpu-v6e", 64}, {}},
                      {{"qwen3-next-80b-a3b", "tpu-v5p", 64}, {}},
                      {{"llama3.1-8b", "h100", 8}, {}}};
  for (const auto& [machine, words] : runs) {
    PlanRequest request = request_for(machine.model, machine.machine, machine.chips);
    request.remat_policies = named_remat_policies(remat_policies());
    const SearchSpace space = space_of(with_settings(std::move(request), words));
    const RematOrder order = remat_order(space, policies_with(space, 1));
    const auto parallelisms = enumerate_parallelisms(space).list;
    for (std::size_t i = 0; i < parallelisms.size(); i += 1 + parallelisms.size() / 5) {
      const Parallelism& p = parallelisms[i];
      if (pipeline_stages(p.mesh) > 1) continue;
      std::map<std::size_t, double> peaks;
      for (const std::size_t remat : order.policies)
        peaks[remat] = static_cast<double>(
            cost_of(evaluate(configuration_of(space, p, space.remat_policies[remat], p.batches[2])), space.required).peak);
      for (const std::size_t less : order.policies)
        for (const std::size_t more : order.larger[less])
          EXPECT_LE(peaks[less], peaks[more] * memory_slack)
              << machine.model << " " << describe(p.mesh) << " " << space.remat_policies[less].name << " "
              << space.remat_policies[more].name;
    }
  }
}

/// One PreparedMesh and one cache for these batches and all policies of a parallelism, as the search has them.
void expect_costs_of_what_is_shown(const SearchSpace& space, const Parallelism& p, const std::vector<BatchOption>& batches) {
  Configuration c = configuration_of(space, p, space.remat_policies.front(), p.batches.front());
  PreparedMesh mesh(space.programs.get());
  for (std::size_t k = 0; k < 2 * space.remat_policies.size(); ++k) {
    const RematPolicy& policy = space.remat_policies[k % space.remat_policies.size()];
    const BatchOption& batch = batches[(k * 5) % batches.size()];
    c.config.remat_policy = policy.name;
    c.config.saved = policy.saved;
    c.config.per_device_batch_size = batch.per_device_batch_size;
    c.config.gradient_accumulation_steps = batch.gradient_accumulation_steps;
    const std::string where = fmt::format("{} {} {} {}", c.model.name, describe(p.mesh), policy.name,
                                          batch.per_device_batch_size);
    const Cost shown = cost_of(evaluate(configuration_of(space, p, policy, batch)), space.required);
    Cost without_time = shown;
    without_time.forget_time();
    EXPECT_EQ(cost_of(evaluate_memory(c, mesh), space.required), without_time) << where;
    EXPECT_EQ(cost_of(evaluate_cost(c, mesh), space.required), shown) << where;
  }
}

TEST(SearchCosts, AreThoseOfWhatIsShown) {
  for (const auto& machine : machines) {
    const SearchSpace space = wide_space(machine);
    const auto parallelisms = enumerate_parallelisms(space).list;
    for (std::size_t i = 0; i < parallelisms.size(); i += 11)
      expect_costs_of_what_is_shown(space, parallelisms[i], parallelisms[i].batches);
  }
}

// Of one batch, so that nothing but the policy tells a block from the one before: layers without a name that the policy
// knows (gated delta nets) are alike under several.
TEST(SearchCosts, OfEachPolicyAreItsOwnInEveryKindOfDecoder) {
  const Machine decoders[] = {{"qwen3-next-80b-a3b", "tpu-v5p", 64}, {"qwen3.5-397b-a17b", "tpu-v5p", 128},
                              {"qwen3-next-80b-a3b", "tpu-7x", 64},  {"llama4-17b-16e", "tpu-v6e", 64},
                              {"llama4-17b-128e", "tpu-v5p", 64},    {"gpt-oss-20b", "tpu-v6e", 16},
                              {"gemma3-4b", "tpu-7x", 8},            {"gemma4-31b", "tpu-v6e", 64},
                              {"gemma4-e2b", "tpu-v5p", 8},          {"deepseek3.2-671b", "tpu-v5p", 64},
                              {"deepseek4-284b", "tpu-7x", 64},      {"qwen3-30b-a3b", "h100", 16},
                              {"olmo3-7b", "h100", 8},               {"envy-switch-base", "mi355x", 8}};
  for (const Machine& machine : decoders) {
    PlanRequest request = request_for(machine.model, machine.machine, machine.chips);
    request.remat_policies = named_remat_policies(remat_policies());
    const SearchSpace space = space_of(request);
    const auto parallelisms = enumerate_parallelisms(space).list;
    ASSERT_FALSE(parallelisms.empty()) << machine.model;
    for (std::size_t i = 0; i < parallelisms.size(); i += 1 + parallelisms.size() / 4)
      expect_costs_of_what_is_shown(space, parallelisms[i], {parallelisms[i].batches.front()});
  }
}

// One Runner for a family: its schedules share the blocks that they partition alike.
TEST(SearchCosts, OfSchedulesThatShareBlocksAreThoseOfEachAlone) {
  int pipelined = 0;
  for (const auto& machine : machines) {
    const SearchSpace space = wide_space(machine);
    const auto parallelisms = enumerate_parallelisms(with_pipelines_only(space)).list;
    const auto policies = policies_with(space, 2);
    const Evaluator& evaluator = cost_model();
    std::optional<Runner> runner;
    for (std::size_t i = 0; i < parallelisms.size(); ++i) {
      const Parallelism& p = parallelisms[i];
      const bool related = i > 0 && is_alike(p, parallelisms[i - 1]) && p.place == parallelisms[i - 1].place;
      if (!related) runner.emplace(space, p, evaluator);
      if (p.place % 7 != 0) continue;
      for (const std::size_t batch : {std::size_t{0}, p.batches.size() / 2}) {
        const std::size_t remat = policies[(i + batch) % policies.size()];
        const Configuration alone = configuration_of(space, p, space.remat_policies[remat], p.batches[batch]);
        EXPECT_EQ(cost_of(runner->run(p, remat, p.batches[batch]), space.required),
                  cost_of(evaluate(alone), space.required))
            << machine.model << " " << describe(p.mesh) << " " << p.schedule.repeats << " x " << p.schedule.microbatches;
        ++pipelined;
      }
    }
  }
  EXPECT_GT(pipelined, 200);
}

// One Runner for kin: meshes of the same sizes on other links share the blocks that they partition alike.
TEST(SearchCosts, OfMeshesOnOtherLinksAreThoseOfEachAlone) {
  int shared = 0;
  for (const Machine& machine : {Machine{"mixtral-8x7b", "h100", 32}, Machine{"llama3-8b", "h100", 32}}) {
    const SearchSpace space = wide_space(machine);
    const auto parallelisms = enumerate_parallelisms(space).list;
    std::map<std::string, Runner> runners;
    std::map<std::string, std::size_t> places;
    for (std::size_t i = 0; i < parallelisms.size(); ++i) {
      const Parallelism& p = parallelisms[i];
      std::string sizes = fmt::format("{} {}", p.rules, name_of(p.moe_path));
      for (const MeshAxis& axis : p.mesh.axes) sizes += fmt::format(" {}={}", axis.name, axis.size());
      const auto at = runners.try_emplace(sizes, space, p, cost_model(), PreparedMesh::Links::several).first;
      if (places.try_emplace(sizes, p.place).first->second != p.place) ++shared;
      if (i % 3 != 0 && pipeline_stages(p.mesh) > 1) continue;
      for (const std::size_t remat : policies_with(space, pipeline_stages(p.mesh))) {
        const Configuration alone = configuration_of(space, p, space.remat_policies[remat], p.batches[1]);
        const std::string where = machine.model + " " + describe(p.mesh) + " " + space.remat_policies[remat].name;
        const Cost cost = cost_of(evaluate(alone), space.required);
        Cost without_time = cost;
        without_time.forget_time();
        EXPECT_EQ(cost_of(at->second.memory(p, remat, p.batches[1]).run, space.required), without_time) << where;
        EXPECT_EQ(cost_of(at->second.run(p, remat, p.batches[1]), space.required), cost) << where;
      }
    }
  }
  EXPECT_GT(shared, 100);
}

// No device holds less than its weights, moments and gradients, no mesh less than what can't be split further.
TEST(SearchBounds, NothingTakesLessThanStateAndGradients) {
  for (const Machine& machine : {Machine{"mixtral-8x7b", "tpu-v5p", 8}, Machine{"deepseek2-16b", "h100", 8}})
    for (const char* words : {"opt_type=adamw", "optimizer_memory_host_offload=true", "opt_type=sgd", "opt_type=muon",
                              "scan_layers=false"}) {
      const SearchSpace space = space_of(with_settings(request_for(machine.model, machine.machine, machine.chips), {words}));
      const Program program = reference_program(space.base.model, space.base.config.max_target_length);
      const Bytes least = least_memory(program, space.base.config);
      const auto parallelisms = enumerate_parallelisms(space).list;
      for (std::size_t i = 0; i < parallelisms.size(); i += 5) {
        const Parallelism& p = parallelisms[i];
        const MemoryUse use = evaluate(configuration_of(space, p, space.remat_policies[1], p.batches.front())).memory;
        const std::string where = machine.model + " " + words + " " + describe(p.mesh);
        EXPECT_GE(use.peak() * p.mesh.devices(), least) << where;
        EXPECT_GE(use.peak(), p.least_memory) << where;
        EXPECT_GE(p.least_memory.value, least.value / p.mesh.devices() / 2) << where;
      }
    }
}

// A layer of multi-token prediction gathers again what lies far from its gradients, which the decoder's policy decides.
TEST(SearchCosts, OfLayersThatRunOnceFollowThePolicy) {
  PlanRequest request = request_for("deepseek2-16b", "tpu-7x", 8);
  request.model.mtp_num_layers = 1;
  request.remat_policies = named_remat_policies({"full", "save_out_proj", "minimal_with_context"});
  const SearchSpace space = space_of(request);
  const auto parallelisms = enumerate_parallelisms(with_pipelines_only(space)).list;
  ASSERT_FALSE(parallelisms.empty());
  for (std::size_t i = 0; i < parallelisms.size(); i += 9) {
    const Parallelism& p = parallelisms[i];
    Runner runner(space, p, cost_model());
    for (const std::size_t remat : {0u, 1u, 2u, 0u})
      EXPECT_EQ(cost_of(runner.run(p, remat, p.batches[1]), space.required),
                cost_of(evaluate(configuration_of(space, p, space.remat_policies[remat], p.batches[1])), space.required))
          << describe(p.mesh) << " " << space.remat_policies[remat].name;
  }
}

// How many batches may fit is found in a few looks; the next one doesn't under any policy.
TEST(SearchBounds, BatchesBeyondThoseThatMayFitAreTooLarge) {
  int counted = 0, looks = 0;
  for (const auto& machine : machines) {
    const SearchSpace space = wide_space(machine);
    const RematOrder plain = remat_order(space, policies_with(space, 1));
    const RematOrder staged = remat_order(space, policies_with(space, 2));
    const auto parallelisms = enumerate_parallelisms(space).list;
    for (std::size_t i = 0; i < parallelisms.size(); i += 7) {
      const Parallelism& p = parallelisms[i];
      const RematOrder& order = pipeline_stages(p.mesh) > 1 ? staged : plain;
      Runner runner(space, p, cost_model());
      Exploration exploration(space, p, i, order, Scope{});
      exploration.probe_memory(runner);
      if (!exploration.may_fit()) continue;
      const std::int64_t probes = exploration.evaluated();
      const std::size_t batches = exploration.count_batches_that_may_fit(runner);
      looks += static_cast<int>(exploration.evaluated() - probes);
      ++counted;
      if (batches == p.batches.size()) continue;
      for (const std::size_t remat : order.policies) {
        const Configuration c = configuration_of(space, p, space.remat_policies[remat], p.batches[batches]);
        EXPECT_FALSE(cost_of(evaluate(c), space.required).fits) << machine.model << " " << describe(p.mesh);
      }
    }
  }
  EXPECT_GT(counted, 50);
  EXPECT_LE(looks, 3 * counted);
}

/// Every candidate there is.
std::vector<Candidate> all_that_fit(const SearchSpace& space, const std::vector<Parallelism>& parallelisms,
                                    const Evaluator& cost) {
  std::vector<Candidate> all;
  for (std::size_t i = 0; i < parallelisms.size(); ++i)
    for (std::size_t remat = 0; remat < space.remat_policies.size(); ++remat)
      for (std::size_t batch = 0; batch < parallelisms[i].batches.size(); ++batch) {
        const auto& option = parallelisms[i].batches[batch];
        const Cost found = cost_of(
            cost.full(configuration_of(space, parallelisms[i], space.remat_policies[remat], option)), space.required);
        if (!found.fits) break;  // nor does a larger batch
        all.push_back({i, remat, batch, found});
      }
  return all;
}

void expect_nothing_lost(const SearchSpace& space, const Evaluator& cost, const std::string& where) {
  const auto parallelisms = enumerate_parallelisms(space).list;
  const Scope scope{2, 0, 0.5, true};
  const auto all = all_that_fit(space, parallelisms, cost);
  const Explored explored = explore(space, parallelisms, scope, cost);
  ASSERT_FALSE(all.empty()) << where;
  double fastest = all.front().cost.seconds_per_token;
  for (const auto& c : all) fastest = std::min(fastest, c.cost.seconds_per_token);
  Front front;
  for (const auto& c : all)
    if (c.cost.seconds_per_token <= fastest * (1 + scope.front_margin)) front.add(c);
  ASSERT_EQ(explored.front.candidates().size(), front.candidates().size()) << where;
  for (std::size_t i = 0; i < front.candidates().size(); ++i)
    EXPECT_EQ(explored.front.candidates()[i].cost, front.candidates()[i].cost) << where;
  const auto mine = select(explored.fitting, parallelisms, Objective::throughput, 1);
  const auto best = select(all, parallelisms, Objective::throughput, 1);
  EXPECT_EQ(mine.recommended.cost, best.recommended.cost) << where;
  std::size_t strategies_found = 0;
  for (const Strategy strategy : strategies) {
    const auto my_best = best_of(strategy, explored.fitting, parallelisms, Objective::throughput);
    const auto its_best = best_of(strategy, all, parallelisms, Objective::throughput);
    ASSERT_EQ(my_best.has_value(), its_best.has_value()) << where << ": " << name_of(strategy);
    if (!its_best) continue;
    EXPECT_EQ(my_best->cost, its_best->cost) << where << ": " << name_of(strategy);
    ++strategies_found;
  }
  EXPECT_GE(strategies_found, 3U) << where;
  ASSERT_EQ(mine.alternatives.size(), best.alternatives.size());
  for (std::size_t i = 0; i < mine.alternatives.size(); ++i)
    EXPECT_EQ(mine.alternatives[i].cost, best.alternatives[i].cost) << where;
  EXPECT_LE(explored.evaluated, static_cast<std::int64_t>(parallelisms.size() * space.remat_policies.size() * 26));
}

TEST(SearchBounds, PruningLosesNothing) {
  for (const auto& machine :
       {Machine{"llama3-8b", "toy-switch", 8}, {"llama3-8b", "toy-torus", 16}, {"mixtral-8x7b", "toy-switch", 8}})
    expect_nothing_lost(wide_space(machine), evaluator_of(toy_evaluation), machine.model + " on " + machine.machine);
}

TEST(SearchBounds, PruningLosesNothingUnderTheCostModel) {
  PlanRequest request = request_for("llama3-8b", "tpu-v5p", 8);
  expect_nothing_lost(space_of(request), cost_model(), "llama3-8b");
  request = request_for("mixtral-8x7b", "mi300x", 8);
  request.mesh = parse_axis_sizes("tensor_sequence=1,fsdp_transpose=1,context=1,tensor=1");
  expect_nothing_lost(space_of(request), cost_model(), "mixtral-8x7b");
}

}  // namespace
}  // namespace shardplan
