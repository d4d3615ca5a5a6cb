// shardplan ARGUMENTS → task → answer → standard output or -o FILE. Exit codes: docs/exit-codes.md.
#include <fmt/format.h>

#include <exception>
#include <planner/cli/command_table.hpp>
#include <planner/cli/parse_words.hpp>
#include <planner/cli/streams/output_file.hpp>
#include <planner/cli/streams/standard_streams.hpp>
#include <shardplan/error.hpp>
#include <shardplan/spelling.hpp>

namespace shardplan {
namespace {

constexpr int internal_error = 1;
constexpr int bad_input = 2;

int exit_code(Outcome outcome) {
  switch (outcome) {
    case Outcome::answered:
      return 0;
    case Outcome::nothing_feasible:
      return 3;
    case Outcome::regression:
      return 4;
  }
  throw InternalError("unknown Outcome");
}

/// Why there is no answer, where there is none.
Outcome complain(const Answer& answer) {
  write_to_standard_error(fmt::format("shardplan: {}\n", answer.complaint));
  return answer.outcome;
}

/// Which files the answer is made from is known when it is there.
void check_files(const Answer& answer) {
  for (const SideFile& file : answer.files) check_is_no_input(file.path);
}

void write_files(const Answer& answer) {
  for (const auto& [path, text] : answer.files) OutputFile(path).commit(text);
}

Outcome answer_to_file(const Task& task) {
  check_is_no_input(*task.output_file);  // what was read by now: no work is done in vain
  OutputFile file(*task.output_file);
  const Answer answer = task.compute(task.style);
  if (!answer.complaint.empty()) return complain(answer);
  write_to_standard_error(answer.remarks);
  check_is_no_input(*task.output_file);
  check_files(answer);
  write_files(answer);
  file.commit(answer.text);
  return answer.outcome;
}

Outcome answer_to_standard_output(const Task& task) {
  const Answer answer = task.compute(task.style);
  if (!answer.complaint.empty()) return complain(answer);
  write_to_standard_error(answer.remarks);
  check_files(answer);
  write_files(answer);
  write_to_standard_output(answer.text);
  return answer.outcome;
}

int run(const Words& words) try {
  const Task task = read_command_line(words);
  return exit_code(task.output_file ? answer_to_file(task) : answer_to_standard_output(task));
} catch (const HelpRequest& help) {
  write_to_standard_output(help.text);
  return 0;
}

/// What the user typed, or what stands in a file, may be anything: it comes back as one line of text.
int report(int code, std::string_view kind, const std::exception& error) {
  constexpr std::size_t longest_message = 2000;
  write_to_standard_error(fmt::format("shardplan: {}{}\n", kind, printable(error.what(), longest_message)));
  return code;
}

int run_guarded(const Words& words) try { return run(words); } catch (const InputError& error) {
  return report(bad_input, "", error);
} catch (const InternalError& error) {
  return report(internal_error, "internal error: ", error);
} catch (const std::exception& error) {
  return report(internal_error, "unexpected error: ", error);
}

}  // namespace
}  // namespace shardplan

int main(int argc, char** argv) {
  shardplan::hold_standard_streams();
  return shardplan::run_guarded({argv + 1, argv + argc});
}
