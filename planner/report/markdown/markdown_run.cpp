#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <planner/report/words/at_most_words.hpp>
#include <planner/report/collective_groups.hpp>
#include <planner/report/humanize.hpp>
#include <planner/report/markdown/markdown.hpp>
#include <planner/report/markdown/markdown_run.hpp>
#include <planner/report/shell_command.hpp>
#include <planner/report/shown_arguments.hpp>
#include <planner/words/fit_words.hpp>
#include <shardplan/collective/counted.hpp>
#include <shardplan/error.hpp>

namespace shardplan {
namespace {

constexpr std::size_t groups_shown = 12, command_width = 100;

using Rows = std::vector<std::vector<std::string>>;

void add_time(Rows& rows, std::string_view name, Seconds amount, Seconds step) {
  if (amount.value > 0) rows.push_back({std::string(name), print_time(amount), print_share(amount / step)});
}

void add_memory(Rows& rows, std::string_view name, Bytes amount) {
  if (amount.value > 0) rows.push_back({std::string(name), print_memory(amount)});
}

std::string_view mark_of(Severity severity) {
  switch (severity) {
    case Severity::error:
      return "**error**";
    case Severity::warning:
      return "**warning**";
    case Severity::note:
      return "note";
  }
  throw InternalError("unknown Severity");
}

}  // namespace

std::string markdown_verdict(const Evaluation& e) {
  const MemoryUse& memory = e.memory;
  if (!runs_if_large_enough(e))
    return fmt::format("does not run: {}: {}", name_of(e.infeasible->constraint), markdown_text(e.infeasible->message));
  switch (memory.fit()) {
    case Fit::fits:
      return "fits";
    case Fit::marginal:
      return fmt::format("{}: {} to {} of {}", marginal_verdict(memory), print_memory(memory.low),
                         print_memory(memory.high), print_memory(memory.capacity));
    case Fit::does_not_fit:
      return fmt::format("does not fit: {} of {}", print_memory(memory.peak()), print_memory(memory.capacity));
  }
  throw InternalError("unknown Fit");
}

std::string markdown_settings(const Evaluation& e) {
  std::vector<std::string> parts = {markdown_code(describe(e.mesh)) + in_slices(e),
                                    markdown_text(rules_in_words(e)) + " rules"};
  if (e.moe_path != MoePath::none) parts.push_back(fmt::format("{} experts", name_of(e.moe_path)));
  parts.push_back("remat " + markdown_code(e.remat));
  parts.push_back(fmt::format("{} of {} a device", counted(e.config.per_device_batch_size, "sequence"),
                              counted(e.config.max_target_length, "token")));
  return fmt::format("{}\n", fmt::join(parts, " · "));
}

std::string markdown_figures(const Evaluation& e) {
  return markdown_table({{"step", true},
                         {"tokens/s", true},
                         {"a chip", true},
                         {"MFU", true},
                         {"exposed collectives", true},
                         {"peak memory", true},
                         {"tokens a step", true}},
                        {{print_time(e.time.with_routing()) + step_range(e), markdown_text(print_rate(e)),
                          markdown_text(print_rate_per_chip(e)),
                          print_share(e.time.utilization_with_routing()), print_time(e.time.exposed_collective),
                          fmt::format("{} of {}", print_memory(e.memory.peak()), print_memory(e.memory.capacity)),
                          print_count(e.global_batch_tokens)}});
}

std::string markdown_time(const Evaluation& e) {
  const StepTime& time = e.time;
  const ComputeSeconds& parts = time.parts;
  Rows rows;
  const auto add = [&](std::string_view name, Seconds amount) { add_time(rows, name, amount, time.with_routing()); };
  add("matrix products", parts.matmul);
  add("experts' products", parts.grouped_matmul);
  add("attention", parts.attention);
  add("vector work", parts.vector);
  add("experts' bias gradients", parts.bias_gradients);
  add("update", parts.optimizer);
  add("slowed by collectives", parts.contention);
  add("exposed collectives", time.exposed_collective);
  add("exposed host copies", time.exposed_host);
  add("pipeline bubble", time.bubble);
  add("routing of all tokens", time.all_token_routing);
  return markdown_table({{"time of a step"}, {print_time(time.with_routing()), true}, {"share", true}}, rows);
}

namespace {

/// What activations and temporaries are, for the most part.
std::string held_table(const Evaluation& e) {
  constexpr std::size_t most = 8;
  Rows rows;
  for (std::size_t i = 0; i < std::min(most, e.held.size()); ++i) {
    const HeldBuffer& buffer = e.held[i];
    rows.push_back({std::string(name_of(buffer.as)), markdown_text(fmt::format("{}: {}", buffer.block, buffer.name)),
                    print_count(buffer.count), print_memory(buffer.bytes), print_memory(buffer.total())});
  }
  if (rows.empty()) return "";
  return "\n" + markdown_table({{"as"}, {"largest at the peak"}, {"buffers", true}, {"of each", true}, {"together", true}},
                               rows);
}

}  // namespace

std::string markdown_memory(const Evaluation& e) {
  const MemoryUse& memory = e.memory;
  Rows rows;
  add_memory(rows, "parameters", memory.parameters);
  add_memory(rows, "optimizer", memory.optimizer);
  add_memory(rows, "input batch", memory.batch);
  add_memory(rows, "gradients", memory.gradients);
  add_memory(rows, "activations", memory.activations);
  add_memory(rows, "temporaries", memory.temporaries);
  return markdown_table({{"memory at the peak"}, {print_memory(memory.peak()), true}}, rows) + held_table(e);
}

std::string markdown_collectives(const Evaluation& e) {
  const auto groups = group_collectives(e);
  Rows rows;
  // A table of one line more shows the last group rather than "1 other".
  const std::size_t shown = groups.size() <= groups_shown + 1 ? groups.size() : groups_shown;
  for (std::size_t i = 0; i < shown; ++i) {
    const CollectiveGroup& group = groups[i];
    const std::string where = group.operations.empty()
                                  ? group.module
                                  : fmt::format("{}: {}", group.module, fmt::join(group.operations, ", "));
    rows.push_back({std::string(name_of(group.kind)), markdown_code(join_axes(names_of(group.axes, e.mesh))),
                    markdown_text(where), print_count(group.executions), print_traffic(group.bytes),
                    print_time(group.seconds)});
  }
  if (groups.size() > shown) {
    const CollectiveGroup others = sum_of(groups, shown);
    rows.push_back({"others", "", fmt::format("{} more kinds and places", groups.size() - shown),
                    print_count(others.executions), print_traffic(others.bytes), print_time(others.seconds)});
  }
  return markdown_table({{"collective"}, {"axes"}, {"where"}, {"times", true}, {"bytes", true}, {"time", true}}, rows);
}

std::string markdown_model_notes(const Evaluation& e) {
  std::string text;
  for (const auto& [field, reason] : model_notes_of(e))
    text += fmt::format("- {}: {}\n", markdown_code(field), markdown_text(reason));
  return text.empty() ? "" : "About the model:\n\n" + text;
}

std::string markdown_command(const Evaluation& e) {
  const auto commands = commands_of(e);
  if (!commands) return "";
  return markdown_details("the command", markdown_block(command_lines(commands->train, 0, command_width), "sh"));
}

/// Flags that are not set and would spare time; what is set stands in the command.
std::string markdown_flags(const Evaluation& e) {
  constexpr double worth_saying = 0.005;
  std::string text;
  for (const FlagWorth& worth : e.flag_worths)
    if (!worth.given && -worth.share() > worth_saying)
      text += fmt::format("- {} is not set and would spare {} of the step: {} ({})\n", markdown_code(print_flag(worth.flag)),
                          print_share(-worth.share()), markdown_text(worth.flag.does), markdown_text(worth.source));
  return text;
}

std::string markdown_findings(const std::vector<Finding>& findings) {
  std::string text;
  for (const auto& finding : findings) {
    text += fmt::format("- {} {}: {}", mark_of(finding.severity), markdown_code(published_id(finding)),
                        markdown_text(finding.message));
    if (!finding.fix.empty()) text += fmt::format("; fix: {}", markdown_code(finding.fix));
    text += "\n";
  }
  return text;
}

}  // namespace shardplan
