#include <gmock/gmock.h>

#include <planner/search/select.hpp>
#include <planner/search/space/alternatives.hpp>

#include "requests.hpp"

namespace shardplan {
namespace {

struct Given {
  std::string mesh;
  std::size_t rules;
  MoePath path;
  bool dispatch_peeled;
  double seconds;
  std::int64_t peak;
};

/// The places in `given` of what is recommended, then of the alternatives.
std::vector<std::size_t> order_of(const std::vector<Given>& given, Objective objective) {
  const auto axes = space_of(request_for("llama2-7b", "toy-switch", 8)).rule_sets.front().mesh_axes;
  std::vector<Parallelism> parallelisms;
  std::vector<Candidate> candidates;
  for (const auto& g : given) {
    candidates.push_back({parallelisms.size(), 0, 0, {g.seconds, g.peak, true, false, false}});
    const std::size_t place = parallelisms.size();
    parallelisms.push_back({g.rules, parse_mesh(g.mesh, axes), g.path, g.dispatch_peeled, {}, false, {}, place, 0});
  }
  number_alternatives(parallelisms);
  const Selection selection = select(candidates, parallelisms, objective, 2);
  std::vector<std::size_t> order = {selection.recommended.parallelism};
  for (const auto& c : selection.alternatives) order.push_back(c.parallelism);
  return order;
}

TEST(Alternatives, AreToldApartByTheNamesOfTheirAxes) {
  const Parallelism data{0, parse_mesh("data=2,fsdp=4", {"data", "fsdp"}), MoePath::none, false, {}, false, {}, 0, 0};
  const Parallelism stages{0, parse_mesh("stage=2,fsdp=4", {"stage", "fsdp"}), MoePath::none, false, {}, false, {}, 1, 0};
  std::vector<Parallelism> all = {data, stages, data};
  number_alternatives(all);
  EXPECT_FALSE(is_alike(all[0], all[1]));
  EXPECT_TRUE(is_alike(all[0], all[2]));
}

TEST(Select, Table) {
  constexpr auto dense = MoePath::none, ragged = MoePath::ragged, dropping = MoePath::dropping;
  struct Row {
    const char* what;
    std::vector<Given> given;
    Objective objective;
    std::vector<std::size_t> expected;
  };
  const Row rows[] = {
      {"fastest first",
       {{"fsdp=8", 0, dense, false, 3, 1}, {"data=8", 0, dense, false, 1, 1}, {"tensor=8", 0, dense, false, 2, 1}},
       Objective::throughput,
       {1, 2, 0}},
      {"of two that no model tells apart the one with fewer axes",
       {{"data=2,fsdp=4", 0, dense, false, 1, 1}, {"fsdp=8", 0, dense, false, 1.0005, 1}},
       Objective::throughput,
       {1, 0}},
      {"but not of two that it does",
       {{"data=2,fsdp=4", 0, dense, false, 1, 1}, {"fsdp=8", 0, dense, false, 1.005, 1}},
       Objective::throughput,
       {0, 1}},
      {"the earlier rule set",
       {{"fsdp=8", 1, dense, false, 1, 1}, {"fsdp=8", 0, dense, false, 1, 1}},
       Objective::throughput,
       {1, 0}},
      {"an alternative differs in mesh, rules or path",
       {{"fsdp=8", 0, dropping, false, 1, 1},
        {"fsdp=8", 0, dropping, true, 2, 1},
        {"fsdp=4,fsdp_transpose=2", 0, dropping, false, 3, 1},
        {"fsdp=8", 0, ragged, false, 4, 1}},
       Objective::throughput,
       {0, 3}},
      {"least memory within 10% of the best throughput",
       {{"fsdp=8", 0, dense, false, 1, 30},
        {"data=8", 0, dense, false, 1.11, 20},
        {"tensor=8", 0, dense, false, 1.12, 10}},
       Objective::memory,
       {1, 0, 2}},
      {"dollars are seconds",
       {{"fsdp=8", 0, dense, false, 2, 1}, {"data=8", 0, dense, false, 1, 9}},
       Objective::cost,
       {1, 0}},
  };
  for (const auto& [what, given, objective, expected] : rows) EXPECT_EQ(order_of(given, objective), expected) << what;
}

}  // namespace
}  // namespace shardplan
