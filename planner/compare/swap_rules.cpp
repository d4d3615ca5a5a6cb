#include <planner/compare/swap_rules.hpp>
#include <planner/evaluate/evaluate.hpp>
#include <rules/merge_rules.hpp>

namespace shardplan {
namespace {

/// The mesh over the axes of `rules`, in their order.
std::optional<Mesh> mesh_over(const std::vector<std::string>& names, const Mesh& mesh) {
  Mesh over;
  for (const auto& name : names) {
    const auto found = mesh.find(name);
    over.axes.push_back(found ? mesh.axes[*found] : MeshAxis{name});
  }
  if (over.devices() != mesh.devices()) return std::nullopt;
  return over;
}

}  // namespace

std::optional<Evaluation> with_rules(const Configuration& run, const RuleSet& chosen) {
  Configuration changed = run;
  changed.rules = active_rules(chosen, run.model.rules, run.rule_changes);
  if (pipeline_stages(run.mesh) > 1) changed.rules = pipelined(std::move(changed.rules));
  const auto mesh = mesh_over(changed.rules.mesh_axes, run.mesh);
  if (!mesh) return std::nullopt;
  changed.mesh = *mesh;
  Evaluation swapped = evaluate_to_show(changed);
  const auto refused = refused_at_start(swapped);
  if (refused && runs_if_large_enough(swapped)) swapped.infeasible = refused;
  return swapped;
}

}  // namespace shardplan
