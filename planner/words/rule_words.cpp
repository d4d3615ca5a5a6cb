#include <fmt/format.h>
#include <fmt/ranges.h>

#include <planner/words/rule_words.hpp>

namespace shardplan {

std::string rule_in_yaml(const Rule& rule) {
  if (rule.axes.empty()) return fmt::format("['{}', []]", rule.logical);
  return fmt::format("['{}', ['{}']]", rule.logical, fmt::join(rule.axes, "', '"));
}

}  // namespace shardplan
