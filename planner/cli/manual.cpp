#include <fmt/format.h>
#include <fmt/ranges.h>

#include <planner/cli/manual.hpp>

namespace shardplan {
namespace {

/// Backslashes, hyphens and a leading dot or quote mean something to roff.
std::string roff(const std::string& text) {
  std::string all;
  for (const char c : text) {
    if (c == '\\') all += "\\e";
    else if (c == '-') all += "\\-";
    else all += c;
  }
  return all.starts_with('.') || all.starts_with('\'') ? "\\&" + all : all;
}

std::string flag_text(const FlagDescription& flag) {
  std::vector<std::string> names;
  for (const auto& name : flag.names) names.push_back("\\fB" + roff(name) + "\\fR");
  const std::string type = flag.type.empty() ? "" : fmt::format(" \\fI{}\\fR", roff(flag.type));
  return fmt::format(".TP\n{}{}\n{}\n", fmt::join(names, ", "), type, roff(flag.help));
}

std::string example_text(const Example& example) {
  return fmt::format(".PP\n{}:\n.PP\n.RS\n.nf\n{}\n.fi\n.RE\n", roff(example.what), roff(example.line));
}

std::string command_text(const CommandDescription& command) {
  std::string text = fmt::format(".SS \"{}\"\n{}.\n.PP\n\\fBshardplan {}\\fR\n", roff(command.name()),
                                 roff(command.summary), roff(command.synopsis));
  for (const auto& flag : command.flags) text += flag_text(flag);
  if (!command.footer.empty()) text += fmt::format(".PP\n{}\n", roff(command.footer));
  for (const auto& example : command.examples) text += example_text(example);
  return text;
}

}  // namespace

std::string manual_page(const std::vector<CommandDescription>& commands, const std::string& version) {
  std::string text = fmt::format(
      ".TH SHARDPLAN 1 \"\" \"{}\" \"User Commands\"\n"
      ".SH NAME\nshardplan \\- plans how to shard the training of a language model with "
      "MaxText\n.SH SYNOPSIS\n",
      roff(version));
  for (const auto& command : commands) text += fmt::format("\\fBshardplan\\fR {}\n.br\n", roff(command.synopsis));
  text += ".SH COMMANDS\n";
  for (const auto& command : commands) text += command_text(command);
  return text + R"roff(.SH ENVIRONMENT
.TP
\fBCOLUMNS\fR
The width that text answers keep to, 40 to 250.
.TP
\fBNO_COLOR\fR
Where it is set and not empty, answers on a terminal have no colours.
.SH EXIT STATUS
0 answered, 1 internal error, 2 bad input, 3 nothing feasible, 4 a regression or an error\-level finding.
)roff";
}

}  // namespace shardplan
