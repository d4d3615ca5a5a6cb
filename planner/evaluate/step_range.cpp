#include <algorithm>
#include <planner/evaluate/evaluate.hpp>
#include <planner/evaluate/step_range.hpp>

namespace shardplan {
namespace {

constexpr double visible = 0.001;  ///< of the step

constexpr Assumption of_figures[] = {Assumption::matmul_efficiency,    Assumption::attention_efficiency,
                                     Assumption::hbm_efficiency,       Assumption::link_efficiency,
                                     Assumption::collective_latency,   Assumption::scale_out_efficiency,
                                     Assumption::scale_out_latency,    Assumption::host_link_bandwidth};

bool is_share(Assumption assumption) {
  return assumption == Assumption::matmul_efficiency || assumption == Assumption::attention_efficiency ||
         assumption == Assumption::hbm_efficiency || assumption == Assumption::link_efficiency ||
         assumption == Assumption::scale_out_efficiency;
}

/// Elementwise kernels reach what a copy does.
void follow(Assumption assumption, double off, HardwareProfile& hardware) {
  if (assumption != Assumption::hbm_efficiency || !hardware.elementwise_efficiency) return;
  double& share = hardware.elementwise_efficiency->value;
  share = std::min(share * off, 1.0);
}

/// The step with one figure of the machine `off` times what it is; a share is 1 at most.
Seconds step_with(Configuration c, Assumption assumption, double off) {
  Figure* figure = figure_of(assumption, c.hardware);
  figure->value *= off;
  if (is_share(assumption)) figure->value = std::min(figure->value, 1.0);
  follow(assumption, off, c.hardware);
  PreparedMesh mesh;
  return evaluate_cost(c, mesh).time.step();
}

void add_figures(std::vector<AssumedStep>& steps, const Configuration& c) {
  for (const Assumption assumption : of_figures) {
    const Figure* figure = figure_of(assumption, c.hardware);
    const double uncertainty = figure ? uncertainty_of(figure->basis) : 0;
    if (uncertainty == 0) continue;
    const Seconds less = step_with(c, assumption, 1 - uncertainty), more = step_with(c, assumption, 1 + uncertainty);
    steps.push_back({assumption, std::min(less, more), std::max(less, more)});
  }
}

}  // namespace

std::vector<AssumedStep> assumed_steps(const Configuration& c, const RunCost& now) {
  const Seconds step = now.time.step();
  std::vector<AssumedStep> steps;
  if (const auto& error = c.hardware.step_error)
    steps.push_back({Assumption::published_runs, step * (1 + error->low), step * (1 + error->high)});
  steps.push_back({Assumption::overlap, now.time.if_all_hid, now.time.if_none_hid});
  add_figures(steps, c);
  const auto width = [](const AssumedStep& s) { return s.high - s.low; };
  std::erase_if(steps, [&](const AssumedStep& s) { return width(s) < step * visible; });
  std::stable_sort(steps.begin(), steps.end(), [&](const auto& a, const auto& b) { return width(b) < width(a); });
  return steps;
}

}  // namespace shardplan
