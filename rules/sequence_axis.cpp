#include <rules/sequence_axis.hpp>

namespace shardplan {

std::string sequence_axis(const RuleSet& rules) {
  constexpr std::string_view length = "activation_length";  // knows its own: most rules differ in that
  const std::string_view usual = name_of(AxisRole::context);
  for (const auto& rule : rules.rules)
    if (rule.logical == length) return rule.axes.empty() ? std::string(usual) : rule.axes.front();
  return std::string(usual);
}

}  // namespace shardplan
