#include <rules/sequence_axis.hpp>

namespace shardplan {

std::string sequence_axis(const RuleSet& rules) {
  constexpr std::string_view length = "activation_length";  // knows its own: most rules differ in that
  for (const auto& rule : rules.rules)
    if (rule.logical == length) return rule.axes.empty() ? "context" : rule.axes.front();
  return "context";
}

}  // namespace shardplan
