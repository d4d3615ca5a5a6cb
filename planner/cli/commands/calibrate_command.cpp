// shardplan calibrate --hardware NAME|FILE --from FILE [--from FILE…] -o FILE
#include <fmt/format.h>

#include <compilers/load_compiler.hpp>
#include <filesystem>
#include <formats/strict_json.hpp>
#include <hardware/load_profile.hpp>
#include <hardware/machine_names.hpp>
#include <planner/calibrate/calibrate.hpp>
#include <planner/calibrate/read_measurements.hpp>
#include <planner/cli/commands.hpp>
#include <planner/cli/parse_words.hpp>
#include <planner/report/calibrate_report.hpp>
#include <shardplan/error.hpp>

namespace shardplan {
namespace {

/// Under other names, too: its measurements would count twice.
void check_are_different(const Words& files) {
  for (std::size_t i = 0; i < files.size(); ++i)
    for (std::size_t j = 0; j < i; ++j)
      if (std::error_code none; files[i] == files[j] || std::filesystem::equivalent(files[i], files[j], none))
        throw InputError(fmt::format("--from {}: {} is the same file, whose measurements would count twice: leave one out",
                                     files[i], files[j]));
}

/// `output`: where the fitted profile goes, which is named after the file.
CalibratedMachine calibrated(const std::string& hardware, const Words& files, const std::string& output) {
  check_has_no_size("--hardware", hardware);
  const HardwareProfile machine = load_profile(hardware);
  const std::string profile =
      is_json_path(hardware) ? moved_profile(read_file(hardware), hardware, output) : profile_json(hardware);
  check_are_different(files);
  Measurements measurements;
  for (const auto& file : files)
    for (auto& measurement : read_measurements(file)) measurements.push_back(std::move(measurement));
  const std::string name = std::filesystem::path(output).stem().string();
  return calibrate(machine, renamed_profile(profile, name), compiler_of(machine, ""), measurements);
}

/// The answer says how the figures fit; the profile goes where -o says.
Task with_profile(Task task, const std::string& profile) {
  task.compute = [answer = std::move(task.compute), path = *task.output_file, profile](const Style& style) {
    Answer with_file = answer(style);
    with_file.files.push_back({path, profile});
    return with_file;
  };
  task.output_file.reset();
  return task;
}

}  // namespace

Task calibrate_command(const Words& words) {
  CommandParser parser("A machine's figures as measurements on it say, for plan --hardware FILE.",
                       "shardplan calibrate");
  std::optional<std::string> hardware;
  Words files;
  parser.add("--hardware", hardware, "NAME|FILE", "The machine");
  parser.add_repeatable("--from", files, "FILE",
                        "Output of nccl-tests or rccl-tests, a CSV of matrix products (m,n,k,dtype,seconds or tflops), "
                        "or xprof's table of a step's operations (JSON)");
  parser.add_footer("-o FILE takes the fitted profile; what is answered is how it fits.");
  parser.add_example("shardplan calibrate --hardware h100 --from all_gather.log --from products.csv -o my-h100.json",
                     "a profile with what nccl-tests and a table of products measured");
  parser.parse(words);
  if (!hardware) throw InputError("calibrate needs --hardware NAME|FILE, the machine that was measured");
  if (files.empty()) throw InputError("calibrate needs --from FILE, measurements on the machine");
  if (!parser.output_file()) throw InputError("calibrate needs -o FILE, where the fitted profile goes");
  const CalibratedMachine machine = calibrated(*hardware, files, *parser.output_file());
  const auto report = [machine](Format format, const Style& style) {
    return Answer{format == Format::json ? calibrate_json(machine) : calibrate_text(machine, style)};
  };
  return with_profile(parser.task(report), machine.profile);
}

}  // namespace shardplan
