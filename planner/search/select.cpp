#include <algorithm>
#include <planner/search/select.hpp>
#include <planner/search/space/alternatives.hpp>
#include <shardplan/error.hpp>
#include <tuple>
#include <utility>

namespace shardplan {
namespace {

class Selector {
 public:
  Selector(std::vector<Candidate> candidates, const std::vector<Parallelism>& parallelisms, Objective objective)
      : candidates_(std::move(candidates)), parallelisms_(parallelisms), objective_(objective) {}

  bool empty() const { return candidates_.empty(); }

  Candidate take_best() {
    const auto best = best_by_objective();
    const Parallelism& taken = parallelisms_[best.parallelism];
    std::erase_if(candidates_, [&](const Candidate& c) { return is_alike(parallelisms_[c.parallelism], taken); });
    return best;
  }

 private:
  const Candidate& best_by_objective() const {
    switch (objective_) {
      case Objective::throughput:
      case Objective::cost:  // on one machine dollars are seconds
        return simplest_within(indistinguishable);
      case Objective::memory:
        return smallest_within(memory_objective_margin);
    }
    throw InternalError("unknown Objective");
  }

  double fastest() const {
    const auto less = [](const Candidate& a, const Candidate& b) {
      return a.cost.seconds_per_token < b.cost.seconds_per_token;
    };
    return std::min_element(candidates_.begin(), candidates_.end(), less)->cost.seconds_per_token;
  }

  template <class Key>
  const Candidate& least_within(double margin, Key key) const {
    const double limit = fastest() * (1 + margin);
    const Candidate* least = nullptr;
    for (const Candidate& c : candidates_)
      if (c.cost.seconds_per_token <= limit && (!least || key(c) < key(*least))) least = &c;
    return *least;
  }

  const Candidate& simplest_within(double margin) const {
    return least_within(margin, [&](const Candidate& c) {
      const Parallelism& p = parallelisms_[c.parallelism];
      return std::tuple(axes_in_use(p.mesh), p.rules, flags(p), c.cost.seconds_per_token, c.cost.peak, c.parallelism,
                        c.remat, c.batch);
    });
  }

  const Candidate& smallest_within(double margin) const {
    return least_within(margin, [](const Candidate& c) {
      return std::tuple(c.cost.peak, c.cost.seconds_per_token, c.parallelism, c.remat, c.batch);
    });
  }

  static long axes_in_use(const Mesh& mesh) {
    return std::count_if(mesh.axes.begin(), mesh.axes.end(), [](const MeshAxis& axis) { return axis.size() > 1; });
  }

  static int flags(const Parallelism& p) {
    return int{p.dispatch_peeled} + int{p.schedule.gathered_once} + int{p.optimizer_over_data};
  }

  std::vector<Candidate> candidates_;
  const std::vector<Parallelism>& parallelisms_;
  Objective objective_;
};

}  // namespace

Selection select(const std::vector<Candidate>& fitting, const std::vector<Parallelism>& parallelisms,
                 Objective objective, int alternatives) {
  Selector selector(fitting, parallelisms, objective);
  Selection selection{selector.take_best(), {}};
  for (int i = 0; i < alternatives && !selector.empty(); ++i) selection.alternatives.push_back(selector.take_best());
  return selection;
}

std::optional<Candidate> best_of(Strategy strategy, const std::vector<Candidate>& fitting,
                                 const std::vector<Parallelism>& parallelisms, Objective objective) {
  std::vector<Candidate> using_it;
  std::copy_if(fitting.begin(), fitting.end(), std::back_inserter(using_it),
               [&](const Candidate& c) { return uses(parallelisms[c.parallelism], strategy); });
  if (using_it.empty()) return std::nullopt;
  return select(using_it, parallelisms, objective, 0).recommended;
}

}  // namespace shardplan
