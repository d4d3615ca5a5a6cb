#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <planner/report/words/at_most_words.hpp>
#include <planner/report/humanize.hpp>
#include <planner/report/part_bar.hpp>
#include <planner/report/shell_command.hpp>
#include <planner/report/shown_arguments.hpp>
#include <planner/report/text/text_sections.hpp>
#include <planner/report/wrap.hpp>
#include <planner/words/assumption_words.hpp>
#include <shardplan/collective/counted.hpp>
#include <shardplan/configuration.hpp>

namespace shardplan {
namespace {

constexpr std::size_t margin = 11;  // of what stands beside a section's title

/// As long as the lines beside it, within reason.
std::size_t bar_length(const Style& style) { return std::min<std::size_t>(style.width() - 20, 120); }

std::string without_end(std::string lines) {
  lines.pop_back();
  return lines;
}

/// Three spaces part what belongs together; where a line is too short for all of it, it breaks there first.
std::string titled(std::string_view title, const std::string& text, const Style& style) {
  std::string lines, line = style.paint(Ink::bold, fmt::format("{:<{}}", title, margin));
  bool fresh = true;
  for (std::size_t at = 0; at <= text.size();) {
    const std::size_t end = std::min(text.find("   ", at), text.size());
    const std::string group = text.substr(at, end - at);
    if (!fresh && display_width(line) + 3 + display_width(group) > style.width()) {
      lines += line + "\n";
      line = std::string(margin, ' ');
      fresh = true;
    }
    const bool fits = !fresh || display_width(line) + display_width(group) <= style.width();
    line = fits ? line + (fresh ? "" : "   ") + group : without_end(wrap_text(group, line, style.width()));
    fresh = false;
    at = end + 3;
  }
  return lines + line + "\n";
}

std::string batch_text(const Evaluation& evaluation) {
  const TrainConfig& config = evaluation.config;
  std::string text = fmt::format("{} of {} a device", counted(config.per_device_batch_size, "sequence"),
                                 counted(config.max_target_length, "token"));
  if (config.gradient_accumulation_steps > 1)
    text += fmt::format(", accumulated over {}", counted(config.gradient_accumulation_steps, "forward pass"));
  return text + fmt::format("; {} a step", counted(evaluation.global_batch_tokens, "token"));
}

BarPart time_part(char letter, Ink ink, std::string_view name, Seconds amount, Seconds whole) {
  const double share = whole.value > 0 ? amount / whole : 0;
  return {letter, ink, fmt::format("{} {} ({})", name, print_time(amount), print_share(share)), amount.value};
}

BarPart memory_part(char letter, Ink ink, std::string_view name, Bytes amount) {
  return {letter, ink, fmt::format("{} {}", name, print_memory(amount)), static_cast<double>(amount.value)};
}

std::string memory_headline(const MemoryUse& memory) {
  std::string text = print_memory(memory.peak());
  if (memory.low < memory.high) text += fmt::format(" ({} to {})", print_memory(memory.low), print_memory(memory.high));
  text += fmt::format(" of {} a device", print_memory(memory.capacity));
  if (!memory.peak_moment.empty()) text += fmt::format(" at the peak ({})", memory.peak_moment);
  const Bytes left = memory.capacity - memory.peak();
  return text + (left.value >= 0 ? fmt::format(", {} free", print_memory(left))
                                 : fmt::format(", {} too much", print_memory(left * -1)));
}

}  // namespace

std::string axes_text(const AxisList& axes, const Mesh& mesh) {
  return axes.empty() ? "-" : join_axes(names_of(axes, mesh));
}

std::string settings_section(const Evaluation& evaluation, const Style& style) {
  std::string rules = rules_in_words(evaluation);
  if (evaluation.moe_path != MoePath::none) rules += fmt::format("   MoE path {}", name_of(evaluation.moe_path));
  const Quantization quantization = evaluation.config.quantization;
  const std::string precision =
      quantization == Quantization::none ? "" : fmt::format("   quantization {}", name_of(quantization));
  return titled("mesh", print_mesh(evaluation), style) +
         titled("rules", fmt::format("{}   remat {}{}", rules, evaluation.remat, precision), style) +
         titled("batch", batch_text(evaluation), style);
}

namespace {

std::string hosts_title(const HostsLaunch& hosts) {
  if (hosts.launcher == HostLauncher::srun)
    return fmt::format("on {} nodes, in a Slurm job of as many (… is the first command):", hosts.groups);
  return fmt::format("on all hosts of {} (… is the first command; cluster and storage are yours):",
                     counted(hosts.groups, "slice"));
}

std::string hosts_section(const RunCommands& commands, const Style& style) {
  if (!commands.hosts) return "";
  return wrap_text(hosts_title(*commands.hosts), "  ", style.width()) +
         hosts_lines(*commands.hosts, commands.train, 4, style.width());
}

std::string compile_section(const RunCommands& commands, const Style& style) {
  if (!commands.train_compile) return "";
  return wrap_text("to compile it ahead of time, without the chips:", "  ", style.width()) +
         command_lines(*commands.train_compile, 4, style.width());
}

std::string_view words_for(ReadersWord word) {
  return word == ReadersWord::data_set ? "the data set" : name_of(word);
}

/// "(add run_name and the data set)"; empty where all is said.
std::string command_remark(const RunCommands& commands, bool runs) {
  if (!runs) return "(does not run as it is)";
  const std::vector<ReadersWord> left = left_to_add(commands.train);
  std::string words;
  for (std::size_t i = 0; i < left.size(); ++i)
    words += fmt::format("{}{}", i == 0 ? "" : i + 1 == left.size() ? " and " : ", ", words_for(left[i]));
  return words.empty() ? "" : fmt::format("(add {})", words);
}

}  // namespace

std::string command_section(const Evaluation& evaluation, const Style& style) {
  if (!evaluation.configuration) return "";
  const auto commands = commands_of(evaluation);
  if (!commands)
    return titled("MaxText",
                  "can't be launched on " + evaluation.hardware +
                      "; the settings, beside --hardware and --chips:", style) +
           settings_lines(arguments_of(evaluation), 2, style.width());
  const std::string remark = command_remark(*commands, may_run(evaluation));
  const std::string title = remark.empty() ? style.paint(Ink::bold, "MaxText") + "\n"
                                           : titled("MaxText", style.paint(Ink::dim, remark), style);
  return title +
         command_lines(commands->train, 2, style.width()) + compile_section(*commands, style) +
         hosts_section(*commands, style);
}

std::string model_notes_section(const Evaluation& evaluation, const Style& style) {
  std::string text;
  for (const auto& [field, reason] : model_notes_of(evaluation))
    text += wrap_text(fmt::format("{}: {}", field, reason), "  ", style.width());
  return text.empty() ? "" : style.paint(Ink::bold, "about the model") + "\n" + text;
}

/// Where the compute is.
std::string compute_line(const ComputeSeconds& parts, const Style& style) {
  const std::string text = print_times({{"matrix products", parts.matmul},
                                        {"experts' products", parts.grouped_matmul},
                                        {"attention", parts.attention},
                                        {"vector work", parts.vector},
                                        {"experts' bias gradients", parts.bias_gradients},
                                        {"update", parts.optimizer},
                                        {"slowed by collectives", parts.contention}});
  return text.empty() ? "" : wrap_text("compute: " + text, "   ", style.width());
}

/// The assumptions that move the step most.
std::string range_line(const Evaluation& evaluation, const Style& style) {
  constexpr std::size_t most = 3;
  std::string text;
  const Seconds routing = evaluation.time.all_token_routing;
  for (std::size_t i = 0; i < std::min(most, evaluation.assumed.size()); ++i) {
    const auto& [assumption, low, high] = evaluation.assumed[i];
    text += fmt::format("{}{} to {} {}", i == 0 ? "range: " : "; ", print_time(low + routing), print_time(high + routing),
                        in_words(assumption, evaluation.configuration->hardware));
  }
  return text.empty() ? "" : wrap_text(text, "   ", style.width());
}

std::string time_section(const Evaluation& evaluation, const Style& style) {
  const StepTime& time = evaluation.time;
  if (!(time.step().value > 0)) return "";
  const Seconds step = time.with_routing();
  const std::vector<BarPart> parts = {
      time_part('C', Ink::green, "compute", time.compute, step),
      time_part('E', Ink::red, "exposed collectives", time.exposed_collective, step),
      time_part('H', Ink::magenta, "exposed host copies", time.exposed_host, step),
      time_part('B', Ink::yellow, "pipeline bubble", time.bubble, step),
      time_part('R', Ink::blue, "routing of all tokens", time.all_token_routing, step)};
  std::string headline =
      fmt::format("{} a step{}   {} tokens/s ({} a chip)   MFU {}{}", print_time(step),
                  step_range(evaluation), print_rate(evaluation), print_rate_per_chip(evaluation),
                  print_share(time.utilization_with_routing()),
                  evaluation.config.quantization == Quantization::none ? "" : " of bf16's peak");
  if (time.hidden_collective.value > 0)
    headline += fmt::format("   ({} of collectives hidden)", print_time(time.hidden_collective));
  return titled("time", headline, style) + "  " + print_bar(parts, 0, bar_length(style), style) + "\n" +
         print_legend(parts, style.width(), 3, style) + compute_line(time.parts, style) +
         range_line(evaluation, style);
}

namespace {

/// What the activations and temporaries are, for the most part.
std::string held_line(const std::vector<HeldBuffer>& held, const Style& style) {
  constexpr std::size_t most = 5;
  std::string text;
  for (std::size_t i = 0; i < std::min(most, held.size()); ++i) {
    const HeldBuffer& buffer = held[i];
    const std::string of_them = buffer.count == 1 ? "" : fmt::format(", {} of them", print_count(buffer.count));
    text += fmt::format("{}{} {} {}, {}{}", i == 0 ? "largest: " : "; ", buffer.as == HeldAs::activation ? 'A' : 'T',
                        print_memory(buffer.total()), buffer.block, buffer.name, of_them);
  }
  return text.empty() ? "" : wrap_text(text, "   ", style.width());
}

}  // namespace

std::string memory_section(const Evaluation& evaluation, const Style& style) {
  const MemoryUse& memory = evaluation.memory;
  if (memory.peak().value == 0) return "";
  const std::vector<BarPart> parts = {memory_part('P', Ink::blue, "parameters", memory.parameters),
                                      memory_part('O', Ink::magenta, "optimizer", memory.optimizer),
                                      memory_part('I', Ink::plain, "input batch", memory.batch),
                                      memory_part('G', Ink::yellow, "gradients", memory.gradients),
                                      memory_part('A', Ink::cyan, "activations", memory.activations),
                                      memory_part('T', Ink::red, "temporaries", memory.temporaries)};
  return titled("memory", memory_headline(memory), style) + "  " +
         print_bar(parts, static_cast<double>(memory.capacity.value), bar_length(style), style) + "\n" +
         print_legend(parts, style.width(), 3, style) + held_line(evaluation.held, style);
}

}  // namespace shardplan
