#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <planner/report/words/at_most_words.hpp>
#include <planner/report/humanize.hpp>
#include <planner/search/comparison.hpp>

namespace shardplan {
namespace {

std::string with_mark(const Evaluation& evaluation, double rate) {
  return (lacks_bias_gradients(evaluation) ? "< " : "") + print_number(rate);
}

void add_where_lacking(std::vector<std::string>& machines, const std::string& machine, const Evaluation& evaluation) {
  if (lacks_bias_gradients(evaluation) && std::find(machines.begin(), machines.end(), machine) == machines.end())
    machines.push_back(machine);
}

}  // namespace

std::string print_rate(const Evaluation& evaluation) {
  return with_mark(evaluation, evaluation.tokens_per_second_with_routing());
}

std::string print_rate_per_chip(const Evaluation& evaluation) {
  return with_mark(evaluation, evaluation.tokens_per_second_with_routing() / evaluation.chips);
}

std::string at_most_words(const std::vector<std::string>& machines) {
  if (machines.empty()) return "";
  return fmt::format("at most: the time that gradients of experts' biases take on {} is not known, and left out",
                     fmt::join(machines, ", "));
}

std::string at_most_words(const PlanAnswer& answer) {
  std::vector<std::string> machines;
  for (const auto& machine : answer.machines)
    if (machine.recommended) add_where_lacking(machines, machine.hardware, *machine.recommended);
  return at_most_words(machines);
}

std::string at_most_words(const CompareAnswer& answer) {
  std::vector<std::string> machines;
  for (const auto& row : answer.rows) add_where_lacking(machines, row.evaluation.hardware, row.evaluation);
  return at_most_words(machines);
}

}  // namespace shardplan
