// Models × machines × chips: what the search recommends, and the best of each strategy, is what costing every candidate
// gives.
#include <gtest/gtest.h>

#include <algorithm>

#include <planner/evaluate/evaluate.hpp>
#include <planner/evaluate/prepared_mesh.hpp>
#include <planner/search/explore/explore.hpp>
#include <planner/search/select.hpp>

#include "requests.hpp"

namespace shardplan {
namespace {

struct Request {
  const char* model;
  const char* machine;
  int chips;
  std::int64_t tokens = 0;  ///< of a sequence; 0: MaxText's own
};

std::vector<Request> requests() {
  std::vector<Request> all;
  constexpr std::pair<const char*, int> machines[] = {
      {"tpu-v5p", 16}, {"tpu-v6e", 32}, {"tpu-7x", 8}, {"h100", 32}, {"mi355x", 8}};
  for (const char* model : {"llama3-8b", "llama3-70b", "gemma2-9b", "qwen3-32b", "mixtral-8x7b", "qwen3-30b-a3b",
                            "deepseek2-16b", "gpt-oss-20b"})
    for (const auto& [machine, chips] : machines)
      all.push_back({model, machine, chips});
  all.push_back({"deepseek3-671b", "tpu-7x", 64});  // a quarter of a sequence a device is laid out another way than half
  all.push_back({"llama3.1-8b", "tpu-v6e", 16, 65536});  // attention's gradients in one kernel don't always fit
  all.push_back({"llama3-70b", "tpu-v6e", 64, 16384});    // and where they don't the batch is a tenth of the time
  return all;
}

/// Of one parallelism: every policy with every batch, from the smallest on, until one doesn't fit (nor does a larger one:
/// bounds_test.cpp).
void cost_all(const SearchSpace& space, const Parallelism& p, std::size_t index, const Evaluator& evaluator,
              std::vector<Candidate>& all) {
  PreparedMesh mesh(space.programs.get());
  for (std::size_t remat = 0; remat < space.remat_policies.size(); ++remat)
    for (std::size_t batch = 0; batch < p.batches.size(); ++batch) {
      const Configuration c = configuration_of(space, p, space.remat_policies[remat], p.batches[batch]);
      const Cost found = cost_of(evaluator.cost(c, mesh), space.required);
      if (!found.fits) break;
      all.push_back({index, remat, batch, found});
    }
}

class Recommendation : public testing::TestWithParam<Request> {};

TEST_P(Recommendation, IsThatOfCostingEverything) {
  const auto& [model, machine, chips, tokens] = GetParam();
  PlanRequest request = request_for(model, machine, chips);
  if (tokens > 0) request = with_settings(request, {"max_target_length=" + std::to_string(tokens)});
  request.remat_policies = named_remat_policies({"full", "save_out_proj", "minimal_with_context"});
  const SearchSpace space = space_of(request);
  const Evaluator& evaluator = cost_model();
  const auto parallelisms = enumerate_parallelisms(space).list;
  std::vector<Candidate> all;
  for (std::size_t i = 0; i < parallelisms.size(); ++i) cost_all(space, parallelisms[i], i, evaluator, all);
  const Explored explored = explore(space, parallelisms, {1, 0, 0, true}, evaluator);
  ASSERT_EQ(explored.fitting.empty(), all.empty());
  if (all.empty()) return;
  const auto mine = select(explored.fitting, parallelisms, Objective::throughput, 1).recommended;
  const auto best = select(all, parallelisms, Objective::throughput, 1).recommended;
  EXPECT_EQ(mine.cost, best.cost);
  for (const Strategy strategy : strategies) {
    const auto my_best = best_of(strategy, explored.fitting, parallelisms, Objective::throughput);
    const auto its_best = best_of(strategy, all, parallelisms, Objective::throughput);
    ASSERT_EQ(my_best.has_value(), its_best.has_value()) << name_of(strategy);
    if (!its_best) continue;
    EXPECT_EQ(my_best->cost, its_best->cost) << name_of(strategy);
  }
  EXPECT_LE(explored.evaluated, static_cast<std::int64_t>(all.size() + 3 * parallelisms.size())) << "more than everything";
}

std::string name_of_request(const testing::TestParamInfo<Request>& info) {
  std::string name = std::string(info.param.model) + "_" + info.param.machine;
  if (info.param.tokens > 0) name += "_" + std::to_string(info.param.tokens);
  std::replace_if(name.begin(), name.end(), [](char c) { return c == '-' || c == '.'; }, '_');
  return name;
}

INSTANTIATE_TEST_SUITE_P(OfEach, Recommendation, testing::ValuesIn(requests()), name_of_request);

}  // namespace
}  // namespace shardplan
