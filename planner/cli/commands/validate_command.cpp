// shardplan validate [RECORD…]
#include <planner/cli/commands.hpp>
#include <planner/cli/parse_words.hpp>
#include <planner/report/validate_report.hpp>
#include <shardplan/error.hpp>
#include <planner/validate/score.hpp>

namespace shardplan {
namespace {

std::vector<RecordedProgram> records(const Words& paths) {
  if (paths.empty()) return built_in_records();
  std::vector<RecordedProgram> programs;
  for (const auto& path : paths) programs.push_back(read_record(path));
  return programs;
}

Answer ablation(const std::vector<RecordedProgram>& programs, Format format, const Style& style) {
  const auto habits = ablate(programs);
  return {format == Format::json ? ablation_json(habits) : ablation_text(habits, style), Outcome::answered};
}

Answer measured_ranges(const std::vector<RecordedProgram>& programs, Format format, const Style& style) {
  const auto ranges = memory_ranges(programs);
  return {format == Format::json ? memory_ranges_json(ranges) : memory_ranges_text(ranges, style), Outcome::answered};
}

Answer measured_times(const Words& paths, Format format, const Style& style) {
  std::vector<MeasuredRun> runs;
  if (paths.empty()) runs = built_in_measured_runs();
  for (const auto& path : paths)
    for (auto& run : read_measured_runs(path)) runs.push_back(std::move(run));
  const TimeScore score = score_times(runs);
  return {format == Format::json ? times_json(score) : times_text(score, style), Outcome::answered};
}

}  // namespace

Task validate_command(const Words& words) {
  CommandParser parser("What shardplan predicts against what the compiler really emitted.", "shardplan validate");
  Words paths;
  bool ablates = false, ranges = false, times = false;
  parser.add_words("RECORD", paths, "Recorded programs (JSON); without any, the ones that come with shardplan");
  parser.add("--ablate", ablates, "Switch off each habit of the compilers in turn: which records get worse");
  parser.add("--ranges", ranges, "How far predicted memory has been off, by compiler and path");
  parser.add("--times", times, "Seconds against published runs; RECORD is then a file of such runs");
  parser.add_example("shardplan validate --times", "seconds against published runs");
  parser.parse(words);
  if (ablates + ranges + times > 1) throw InputError("--ablate, --ranges and --times are answers of their own: give one");
  return parser.task([paths, ablates, ranges, times](Format format, const Style& style) {
    if (times) return measured_times(paths, format, style);
    if (ablates) return ablation(records(paths), format, style);
    if (ranges) return measured_ranges(records(paths), format, style);
    const Validation validation = validate(records(paths));
    return Answer{format == Format::json ? validation_json(validation) : validation_text(validation, style),
                  Outcome::answered};
  });
}

}  // namespace shardplan
