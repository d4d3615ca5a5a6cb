#include <rules/sequence_axis.hpp>

namespace shardplan {

std::string_view sequence_axis(const RuleSet& rules) {
  constexpr std::string_view length = "activation_length";  // knows its own: most rules differ in that
  const std::string_view usual = name_of(AxisRole::context);
  for (const auto& rule : rules.rules)
    if (rule.logical == length) return rule.axes.empty() ? usual : std::string_view(rule.axes.front());
  return usual;
}

}  // namespace shardplan
