#include <fmt/format.h>

#include <planner/findings/subject.hpp>

namespace shardplan {

std::string in_words(Bytes amount) {
  const auto value = static_cast<double>(amount.value);
  if (value < 0.9995e6) return fmt::format("{:.3g} kB", value / 1e3);
  if (value < 0.9995e9) return fmt::format("{:.3g} MB", value / 1e6);
  if (value < 0.9995e12) return fmt::format("{:.3g} GB", value / 1e9);
  return fmt::format("{:.3g} TB", value / 1e12);
}

std::string in_words(Seconds time) {
  if (time.value < 0.9995e-3) return fmt::format("{:.3g} us", time.value * 1e6);
  if (time.value < 0.9995) return fmt::format("{:.3g} ms", time.value * 1e3);
  return fmt::format("{:.3g} s", time.value);
}

std::string in_words(const Traffic& traffic) {
  return fmt::format("{} and {} a step", in_words(traffic.bytes), in_words(traffic.seconds));
}

std::string axis_names(const AxisList& axes, const Mesh& mesh) {
  std::string text;
  for (const AxisId axis : axes) text += (text.empty() ? "" : "+") + mesh.axes[axis].name;
  return text;
}

bool ends_with_any(std::string_view text, std::initializer_list<std::string_view> endings) {
  return std::any_of(endings.begin(), endings.end(), [&](auto ending) { return text.ends_with(ending); });
}

bool overlap(const AxisList& a, const AxisList& b) {
  return std::any_of(a.begin(), a.end(), [&](AxisId axis) { return contains(b, axis); });
}

bool is_expert_weight(const Collective& collective) {
  return ends_with_any(collective.op, {"MoeBlock_0/wi_0", "MoeBlock_0/wi_1", "MoeBlock_0/wo"}) &&
         (collective.parameter || collective.kind == CollectiveKind::reduce_scatter ||
          collective.kind == CollectiveKind::all_reduce);
}

std::vector<Rule> rules_named(const RuleSet& rules, std::initializer_list<std::string_view> names) {
  std::vector<Rule> found;
  for (const auto& rule : rules.rules)
    if (std::find(names.begin(), names.end(), rule.logical) != names.end()) found.push_back(rule);
  return found;
}

AxisList axes_of_first(std::string_view logical, const FindingSubject& subject) {
  const auto& rules = subject.rules().rules;
  const auto rule = std::find_if(rules.begin(), rules.end(), [&](const Rule& r) { return r.logical == logical; });
  AxisList axes;
  if (rule == rules.end()) return axes;
  for (const auto& name : rule->axes)
    if (const auto axis = subject.mesh().find(name); axis && subject.mesh().size(*axis) > 1) axes.push_back(*axis);
  return axes;
}

}  // namespace shardplan
