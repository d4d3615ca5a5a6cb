#include <fmt/format.h>
#include <fmt/ranges.h>

#include <planner/report/at_most_words.hpp>
#include <planner/report/humanize.hpp>
#include <planner/search/comparison.hpp>

namespace shardplan {

std::string print_rate(const Evaluation& evaluation) {
  return (lacks_bias_gradients(evaluation) ? "< " : "") + print_number(evaluation.tokens_per_second_with_routing());
}

std::string at_most_words(const std::vector<std::string>& machines) {
  return fmt::format("at most: the time that gradients of experts' biases take on {} is not known, and left out",
                     fmt::join(machines, ", "));
}

std::string at_most_words(const PlanAnswer& answer) {
  std::vector<std::string> machines;
  for (const auto& machine : answer.machines)
    if (machine.recommended && lacks_bias_gradients(*machine.recommended)) machines.push_back(machine.hardware);
  return machines.empty() ? "" : at_most_words(machines);
}

}  // namespace shardplan
