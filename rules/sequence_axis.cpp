#include <rules/sequence_axis.hpp>

namespace shardplan {

std::string sequence_axis(const RuleSet& rules) {
  for (const auto& rule : rules.rules)
    if (rule.logical == "activation_length") return rule.axes.empty() ? "context" : rule.axes.front();
  return "context";
}

}  // namespace shardplan
