#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <planner/compare/traffic.hpp>
#include <planner/report/words/at_most_words.hpp>
#include <planner/report/compare/differences.hpp>
#include <planner/report/humanize.hpp>
#include <planner/words/rule_words.hpp>
#include <planner/search/comparison.hpp>
#include <shardplan/error.hpp>
#include <tuple>

namespace shardplan {
namespace {

const Evaluation& base_of(const CompareAnswer& answer) { return answer.rows.front().evaluation; }

std::string per_cent(double share) { return fmt::format("{:.1f}%", 100 * share); }

std::string slower_text(double slower) {
  if (std::abs(slower) < visible_slowdown) return "as fast";
  const double faster = -slower / (1 + slower);
  if (slower < 0) return faster < 1 ? per_cent(faster) + " faster" : fmt::format("{}x faster", print_number(1 + faster));
  return slower < 1 ? per_cent(slower) + " slower" : fmt::format("{}x slower", print_number(1 + slower));
}

/// Signed, in the unit of what is compared; "" below what a report shows.
void add_signed(std::vector<std::string>& parts, std::string_view name, Bytes difference) {
  constexpr std::int64_t least = 1'000'000;
  if (std::abs(difference.value) < least) return;
  const char sign = difference.value < 0 ? '-' : '+';
  parts.push_back(fmt::format("{} {}{}", name, sign, print_traffic({std::abs(difference.value)})));
}

void add_signed(std::vector<std::string>& parts, std::string_view name, Seconds difference, Seconds step) {
  if (std::abs(difference.value) < visible_slowdown * step.value) return;
  const char sign = difference.value < 0 ? '-' : '+';
  parts.push_back(fmt::format("{} {}{}", name, sign, print_time({std::abs(difference.value)})));
}

/// Seconds and bytes of `other`'s step times this are those of the base's tokens.
double to_tokens_of(const Evaluation& base, const Evaluation& other) { return tokens_of(base) / tokens_of(other); }

/// Said where steps differ, of figures that don't.
std::string tokens_note(const Evaluation& base, const Evaluation& other) {
  const double tokens = 1 / to_tokens_of(base, other);
  if (std::abs(tokens - 1) <= visible_slowdown) return "";
  return fmt::format("; times and bytes for as many tokens: its steps have {}x", print_number(tokens));
}

/// Where the time of the base's tokens goes otherwise.
std::string time_difference(const Evaluation& base, const Evaluation& other) {
  const double scale = to_tokens_of(base, other);
  std::vector<std::string> parts;
  const auto add = [&](std::string_view name, Seconds mine, Seconds theirs) {
    add_signed(parts, name, theirs * scale - mine, base.time.with_routing());
  };
  add("compute", base.time.compute, other.time.compute);
  add("exposed", base.time.exposed_collective, other.time.exposed_collective);
  add("host copies", base.time.exposed_host, other.time.exposed_host);
  add("bubble", base.time.bubble, other.time.bubble);
  add("routing of all tokens", base.time.all_token_routing, other.time.all_token_routing);
  return fmt::format("{}", fmt::join(parts, ", "));
}

std::string figures_of(const Evaluation& e) {
  return fmt::format("{} a step, {} tokens/s, {} exposed, peak {}", print_time(e.time.with_routing()),
                     print_rate(e), print_time(e.time.exposed_collective),
                     print_memory(e.memory.peak()));
}

std::string refusal_of(const Evaluation& e) {
  return fmt::format("does not run ({}: {})", name_of(e.infeasible->constraint), e.infeasible->message);
}

std::string why_not(const Evaluation& e) {
  if (!runs_if_large_enough(e)) return "; " + refusal_of(e);
  if (e.memory.fit() == Fit::fits) return "";
  if (e.memory.fit() == Fit::marginal) return "; " + marginal_text(e.memory);
  return fmt::format("; does not fit ({} of {})", print_memory(e.memory.peak()), print_memory(e.memory.capacity));
}

/// The best run of these rules; null where they have none.
const ComparedRow* best_of(const std::string& rules, const CompareAnswer& answer) {
  const auto found = std::find_if(answer.rows.begin(), answer.rows.end(),
                                  [&](const ComparedRow& row) { return row.evaluation.rules == rules; });
  return found == answer.rows.end() ? nullptr : &*found;
}

const Evaluation* base_of_rules(const CompareAnswer& answer) {
  const ComparedRow* best = best_of(answer.rules->first, answer);
  return best ? &best->evaluation : nullptr;
}

bool is_idle(const RuleChange& change, const Evaluation* base) {
  if (!base || !change.alone || change.alone->infeasible) return false;
  return std::abs(slower_than(*base, *change.alone)) < visible_slowdown && moved_difference(*base, *change.alone).empty();
}

}  // namespace

std::string moved_difference(const Evaluation& base, const Evaluation& other) {
  const TrafficBytes mine = traffic_of(base), theirs = traffic_of(other);
  std::vector<std::string> parts;
  const auto add = [&](std::string_view name, Bytes my_bytes, Bytes their_bytes) {
    const double scaled = static_cast<double>(their_bytes.value) * to_tokens_of(base, other);
    add_signed(parts, name, Bytes{std::llround(scaled)} - my_bytes);
  };
  add("all-to-all", mine.all_to_all, theirs.all_to_all);
  add("gathered", mine.gather, theirs.gather);
  add("reduced", mine.reduce, theirs.reduce);
  add("permuted", mine.permute, theirs.permute);
  std::string text = fmt::format("{}", fmt::join(parts, ", "));
  const Bytes peak = other.memory.peak() - base.memory.peak();
  if (std::abs(gibibytes(peak)) >= 0.05)
    text += fmt::format("{}peak {}{}", text.empty() ? "" : "; ", peak.value < 0 ? '-' : '+',
                        print_memory({std::abs(peak.value)}));
  return text;
}

std::string difference_of(const ComparedRow& row, const CompareAnswer& answer) {
  const Evaluation &base = base_of(answer), &other = row.evaluation;
  if (&base == &other) return figures_of(other) + why_not(other);
  std::string text = slower_text(slower_than(base, other));
  if (const std::string where = time_difference(base, other); !where.empty()) text += fmt::format(" ({})", where);
  if (const std::string moved = moved_difference(base, other); !moved.empty()) text += "; " + moved;
  return text + tokens_note(base, other) + why_not(other);
}

std::string rules_verdict(const CompareAnswer& answer) {
  if (!answer.rules) return "";
  const auto& [first, second] = std::tie(answer.rules->first, answer.rules->second);
  const ComparedRow *one = best_of(first, answer), *other = best_of(second, answer);
  if (!one || !other) return fmt::format("{} has no run to compare", one ? second : first);
  if (one == other) return "both are the same rules";
  std::string text = fmt::format("best of {} against best of {}: {} is {}", first, second, second,
                                 slower_text(slower_than(one->evaluation, other->evaluation)));
  if (const std::string moved = moved_difference(one->evaluation, other->evaluation); !moved.empty()) text += "; " + moved;
  text += tokens_note(one->evaluation, other->evaluation);
  for (const auto& [rules, best] : {std::pair{&first, one}, std::pair{&second, other}})
    if (const std::string why = why_not(best->evaluation); !why.empty())
      text += fmt::format("; {}{}", *rules, why.substr(1));
  return text;
}

std::string change_subject(const RuleChange& change) {
  switch (change.part) {
    case RulePart::rules:
      return change.logical;
    case RulePart::order:
      return "order of the rules";
    case RulePart::mesh_axes:
      return "mesh_axes";
    case RulePart::data_sharding:
      return "data_sharding";
  }
  throw InternalError("unknown RulePart");
}

std::vector<std::string> said_by(const RuleChange& change, const std::vector<RuleLine>& lines) {
  std::vector<std::string> texts;
  for (const auto& [line, rule] : lines)
    texts.push_back(change.part == RulePart::rules ? fmt::format("line {} {}", line, rule_in_yaml(rule))
                                                   : fmt::format("[{}]", fmt::join(rule.axes, ", ")));
  if (texts.empty() && change.part == RulePart::rules) texts.emplace_back("no rule");
  return texts;
}

std::string change_alone(const RuleChange& change, const CompareAnswer& answer) {
  const Evaluation* base = base_of_rules(answer);
  if (!base) return fmt::format("{} has no run to weigh it on", answer.rules->first);
  const std::string on = describe(base->mesh);
  if (!change.alone) return fmt::format("alone on {}: the mesh has no place under it", on);
  const Evaluation& with = *change.alone;
  if (!runs_if_large_enough(with)) return fmt::format("alone on {}: {}", on, refusal_of(with));
  std::string text = fmt::format("alone on {}: {} a step, {} with it ({})", on, print_time(base->time.with_routing()),
                                 print_time(with.time.with_routing()), slower_text(slower_than(*base, with)));
  if (const std::string moved = moved_difference(*base, with); !moved.empty()) text += "; " + moved;
  return text + why_not(with);
}

ChangesByEffect changes_by_effect(const CompareAnswer& answer) {
  ChangesByEffect changes;
  const Evaluation* base = base_of_rules(answer);
  for (const auto& change : answer.rules->changes)
    (is_idle(change, base) ? changes.idle : changes.effective).push_back(&change);
  const auto effect = [&](const RuleChange* change) {
    return base && change->alone ? std::abs(slower_than(*base, *change->alone)) : 0;
  };
  std::stable_sort(changes.effective.begin(), changes.effective.end(),
                   [&](const RuleChange* a, const RuleChange* b) { return effect(a) > effect(b); });
  return changes;
}

std::string idle_changes(const std::vector<const RuleChange*>& idle, const CompareAnswer& answer) {
  std::vector<std::string> subjects;
  for (const RuleChange* change : idle) subjects.push_back(change_subject(*change));
  return fmt::format("{} nothing alone on {}: {}", idle.size() == 1 ? "changes" : "change",
                     describe(base_of_rules(answer)->mesh), fmt::join(subjects, ", "));
}

}  // namespace shardplan
