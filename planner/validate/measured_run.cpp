#include <formats/strict_json.hpp>
#include <nlohmann/json.hpp>
#include <planner/validate/machine_choice.hpp>
#include <planner/validate/measured_run.hpp>
#include <shardplan/embedded_file.hpp>
#include <span>

namespace shardplan {

std::span<const EmbeddedFile> embedded_measured_runs();

namespace {

std::vector<std::string> words_in(const nlohmann::json& arguments, const std::string& where) {
  StrictObject object(arguments, where);
  std::vector<std::string> words;
  for (const auto& item : arguments.items()) words.push_back(item.key() + "=" + object.text(item.key()));
  return words;
}

double positive(StrictObject& object, const std::string& key) {
  const double value = object.number(key);
  if (!(value > 0)) object.fail(key, "above 0");
  return value;
}

MeasuredRun run_in(const nlohmann::json& value, const std::string& where) {
  StrictObject object(value, where);
  MeasuredRun run;
  run.id = object.text("id");
  run.arguments = words_in(object.any("arguments"), where + ".arguments");
  if (object.has("xla_flags")) run.arguments.push_back("compile_xla_flags=" + object.text("xla_flags"));
  if (object.has("hardware")) run.machine = machine_in(object.object("hardware"));
  run.machine.program = StepProgram::train;
  if (object.has("tokens_per_second_per_device") == object.has("step_seconds"))
    object.fail("step_seconds", "given exactly when tokens_per_second_per_device is not");
  if (object.has("step_seconds"))
    run.step_seconds = positive(object, "step_seconds");
  else
    run.tokens_per_second_per_device = positive(object, "tokens_per_second_per_device");
  run.source = object.text("source");
  object.finish();
  return run;
}

}  // namespace

std::vector<MeasuredRun> parse_measured_runs(std::string_view text, const std::string& file) {
  const nlohmann::json json = parse_json(text, file);
  StrictObject object(json, file);
  std::vector<MeasuredRun> runs;
  for (const auto& value : object.array("runs"))
    runs.push_back(run_in(value, file + ".runs[" + std::to_string(runs.size()) + "]"));
  object.finish();
  return runs;
}

std::vector<MeasuredRun> read_measured_runs(const std::string& path) { return parse_measured_runs(read_file(path), path); }

std::vector<MeasuredRun> built_in_measured_runs() {
  std::vector<MeasuredRun> all;
  for (const EmbeddedFile& file : embedded_measured_runs()) {
    auto runs = parse_measured_runs(file.text, std::string(file.name) + ".json");
    all.insert(all.end(), std::make_move_iterator(runs.begin()), std::make_move_iterator(runs.end()));
  }
  return all;
}

}  // namespace shardplan
