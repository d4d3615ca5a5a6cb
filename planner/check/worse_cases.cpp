#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <arguments/keys/argument_table.hpp>
#include <arguments/words/parse_argument.hpp>
#include <map>
#include <planner/check/worse_cases.hpp>
#include <set>
#include <shardplan/error.hpp>
#include <shardplan/mesh/mesh.hpp>
#include <shardplan/units.hpp>

namespace shardplan {
namespace {

/// KEY=VALUE as values: `True` is `true`, 1.0 is 1.
using Settings = std::map<std::string, ArgumentValue>;

/// But for those that say machine and mesh, which the places have.
Settings settings_of(const std::vector<std::string>& arguments) {
  Settings settings;
  for (const std::string& argument : arguments) {
    const auto equals = argument.find('=');
    const std::string key = argument.substr(0, equals);
    const std::string text = equals == argument.npos ? "" : argument.substr(equals + 1);
    try {
      if (role_of(key) == ArgumentRole::axis || key == "compile_topology") continue;
      settings.emplace(key, parse_argument(key, text, argument));
    } catch (const InputError&) {  // of a baseline of another version
      settings.emplace(key, text);
    }
  }
  return settings;
}

/// The keys that one of them lacks, or has otherwise.
std::set<std::string> differing(const Settings& some, const Settings& others) {
  std::set<std::string> keys;
  for (const auto* settings : {&some, &others})
    for (const auto& [key, value] : *settings) {
      const auto one = some.find(key), other = others.find(key);
      if (one == some.end() || other == others.end() || one->second != other->second) keys.insert(key);
    }
  return keys;
}

struct Slower {
  const CheckedCase* now;
  const CheckedCase* then;
  double share() const { return now->step / then->step - 1; }
};

/// Something else there makes the check fail, and says why.
bool is_said(const CheckedPlace& place, const CheckAnswer& answer) {
  return std::any_of(answer.findings.begin(), answer.findings.end(), [&](const CheckedFinding& checked) {
    return checked.standing == Standing::counts && checked.finding.severity >= answer.fail_on && checked.bites.has(place);
  });
}

std::vector<Slower> slower_ones(const CheckAnswer& answer, const Baseline& baseline) {
  constexpr double worth_failing = 0.05;
  std::vector<Slower> slower;
  for (const CheckedCase& now : answer.costed) {
    const auto then = std::find_if(baseline.costed.begin(), baseline.costed.end(), [&](const CheckedCase& known) {
      return known.place == now.place && known.tokens == now.tokens;
    });
    if (then == baseline.costed.end() || then->step.value <= 0) continue;
    const Slower one{&now, &*then};
    if (one.share() >= worth_failing && !is_said(now.place, answer)) slower.push_back(one);
  }
  return slower;
}

CheckedFinding finding_of(const std::vector<Slower>& slower, const CheckAnswer& answer) {
  const Slower worst = *std::max_element(slower.begin(), slower.end(),
                                         [](const Slower& a, const Slower& b) { return a.share() < b.share(); });
  CheckedFinding checked;
  checked.worst = describe(worst.now->place);
  checked.finding = {FindingId::slower_than_baseline,
                     Severity::error,
                     fmt::format("a step takes {} and moves {}, in the baseline {} and {}: {:.1f}% longer, and no other "
                                 "finding fails the check there",
                                 in_words(worst.now->step), in_words(worst.now->moved), in_words(worst.then->step),
                                 in_words(worst.then->moved), 100 * worst.share()),
                     answer.rules,
                     {},
                     "shardplan compare --rules EARLIER --against " + answer.rules + " shows what moves"};
  for (const Slower& one : slower) checked.bites.add(one.now->place);
  return checked;
}

/// What a model's error leaves out are all of its places.
bool is_left_out(const CheckedPlace& place, const LeftOutCase& left_out) {
  return left_out.place.mesh.empty() ? left_out.place.model == place.model : left_out.place == place;
}

/// A sweep has meshes of the axes alone that the rules have. "": it would have this one.
std::string missing_axis(const CheckedPlace& place, const CheckAnswer& answer) {
  const auto swept = std::find_if(answer.swept.begin(), answer.swept.end(),
                                  [&](const SweptModel& one) { return one.model == place.model; });
  if (swept == answer.swept.end() || place.mesh.find('=') == place.mesh.npos) return "";
  const auto& axes = swept->mesh_axes;
  for (const AskedAxis& axis : parse_axes(place.mesh))
    if (std::find(axes.begin(), axes.end(), axis.name) == axes.end()) return axis.name;
  return "";
}

/// What ran then and is left out now.
std::vector<LeftOutCase> lost_ones(const CheckAnswer& answer, const Baseline& baseline) {
  std::vector<LeftOutCase> lost;
  for (const CheckedCase& then : baseline.costed) {
    const auto left_out = std::find_if(answer.left_out.begin(), answer.left_out.end(),
                                       [&](const LeftOutCase& one) { return is_left_out(then.place, one); });
    if (left_out != answer.left_out.end())
      lost.push_back({then.place, left_out->why});
    else if (const std::string axis = missing_axis(then.place, answer); !axis.empty())
      lost.push_back({then.place, fmt::format("the rules have no mesh axis '{}'", axis)});
  }
  return lost;
}

CheckedFinding finding_of(const std::vector<LeftOutCase>& lost, const CheckAnswer& answer) {
  CheckedFinding checked;
  checked.worst = describe(lost.front().place);
  checked.finding = {FindingId::refused_since_baseline,
                     Severity::error,
                     "it ran in the baseline, and does not start now: " + lost.front().why,
                     answer.rules,
                     {},
                     ""};
  for (const LeftOutCase& one : lost) checked.bites.add(one.place);
  return checked;
}

}  // namespace

std::string why_not_compared(const CheckAnswer& answer, const Baseline& baseline) {
  if (baseline.costed.empty()) return "the baseline has none: write it anew";
  if (baseline.hardware != answer.hardware)
    return fmt::format("the baseline's are of {}, these of {}", baseline.hardware, answer.hardware);
  const auto keys = differing(settings_of(baseline.arguments), settings_of(answer.arguments));
  return keys.empty() ? "" : fmt::format("the baseline's are under other arguments ({})", fmt::join(keys, ", "));
}

std::vector<CheckedFinding> worse_cases(const CheckAnswer& answer, const Baseline& baseline) {
  std::vector<CheckedFinding> worse;
  if (const auto slower = slower_ones(answer, baseline); !slower.empty()) worse.push_back(finding_of(slower, answer));
  if (const auto lost = lost_ones(answer, baseline); !lost.empty()) worse.push_back(finding_of(lost, answer));
  return worse;
}

}  // namespace shardplan
