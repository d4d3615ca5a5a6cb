#include <algorithm>
#include <array>
#include <arguments/model_words/nearest_model.hpp>
#include <formats/named_value.hpp>
#include <models/load_model.hpp>
#include <models/model_names.hpp>
#include <planner/cli/flags/flag_values.hpp>
#include <planner/cli/flags/run_flags.hpp>

namespace shardplan {
namespace {

constexpr std::array programs = {StepProgram::train, StepProgram::train_compile};

constexpr std::string_view model_key = "model_name=";

/// A word may name the model of --model again, by another of its names.
bool repeats_model(const std::string& word, const std::string& model) {
  return word.starts_with(model_key) && are_one_model(word.substr(model_key.size()), model);
}

/// The model that a printed command of the file names in its place, beside words that say what differs; else empty.
std::string stand_in_for(const std::string& file, const Words& words) {
  const auto names_one = [](const std::string& word) { return word.starts_with(model_key); };
  if (std::none_of(words.begin(), words.end(), names_one)) return "";
  const Model model = load_model(file);
  return model.in_maxtext ? "" : words_for(model).name;
}

Words all_words(const RunFlags& flags) {
  check_key_values(flags.key_values, "--config");
  Words words = with_xla_flags(flags.key_values, flags.xla_flags);
  const auto repeats = [&](const std::string& word) { return repeats_model(word, *flags.model); };
  if (flags.model && std::none_of(words.begin(), words.end(), repeats)) {
    if (const std::string name = stand_in_for(*flags.model, words); !name.empty())
      std::erase(words, std::string(model_key) + name);
    words.push_back(std::string(model_key) + *flags.model);
  }
  if (flags.rules) words.push_back("custom_mesh_and_rule=" + *flags.rules);
  return words;
}

std::optional<StepProgram> read_step_program(const RunFlags& flags) {
  if (!flags.program) return std::nullopt;
  return enumerator_named(programs, "program", *flags.program, "--program");
}

/// What searches take as a flag, a run is told in MaxText's words.
void say_flags_of_searches(CommandParser& parser) {
  constexpr std::pair<const char*, const char*> arguments[] = {
      {"--seq-len", "max_target_length=N"},
      {"--remat", "remat_policy=NAME"},
      {"--moe", "sparse_matmul=…, capacity_factor=… and use_ring_of_experts=…"},
      {"--per-device-batch", "per_device_batch_size=N"},
      {"--global-batch-tokens", "per_device_batch_size=N, tokens over devices and max_target_length"},
      {"--optimizer", "opt_type=NAME"}};
  for (const auto& [flag, words] : arguments) parser.say_instead(flag, std::string("MaxText's arguments: ") + words);
}

}  // namespace

void add_slices_flag(CommandParser& parser, RunFlags& flags) {
  parser.add("--slices", flags.slices, "N", "TPU slices, or GPU nodes");
}

void add_config_flag(CommandParser& parser, RunFlags& flags) {
  parser.add("--config", flags.config_file, "FILE", "A MaxText YAML file that stands in for any KEY=VALUE");
}

void add_memory_flags(CommandParser& parser, std::optional<std::string>& reserve,
                      std::optional<std::string>& fraction) {
  parser.add("--reserve-hbm", reserve, "8%|4GiB", "Memory of a device that is to stay free");
  parser.add("--memory-fraction", fraction, "F",
             "Share of a GPU's memory that the process takes (default: the machine's)");
}

MemoryLimits read_memory_limits(const std::optional<std::string>& reserve, const std::optional<std::string>& fraction) {
  MemoryLimits limits;
  if (reserve) limits.reserve = parse_reserve("--reserve-hbm", *reserve);
  if (fraction) limits.process_fraction = parse_share("--memory-fraction", *fraction);
  return limits;
}

void add_xla_flags(CommandParser& parser, std::optional<std::string>& xla_flags) {
  parser.add_dashed("--xla-flags", xla_flags, "FLAGS",
                    "XLA's flags (default: those that most recipes for the machine set); recipe: all of them, none: "
                    "XLA's defaults");
}

bool says_xla_flags(const Words& key_values) {
  return std::any_of(key_values.begin(), key_values.end(),
                     [](const std::string& word) { return word.starts_with("compile_xla_flags="); });
}

Words with_xla_flags(Words key_values, const std::optional<std::string>& xla_flags) {
  if (xla_flags) key_values.push_back("compile_xla_flags=" + *xla_flags);
  return key_values;
}

void add_run_flags(CommandParser& parser, RunFlags& flags, const std::string& mesh_help,
                   const std::string& words_help) {
  parser.add("--model", flags.model, "NAME|FILE", "The same as model_name=NAME");
  parser.add("--hardware", flags.hardware, "NAME|FILE",
             "The machine, where compile_topology doesn't say it; v5p-16 says its chips too");
  parser.add("--chips", flags.chips, "N", "Chips of all slices together; 1k is 1024");
  add_slices_flag(parser, flags);
  parser.add("--rules", flags.rules, "NAME|FILE", "The same as custom_mesh_and_rule=NAME");
  parser.add("--mesh", flags.mesh, "axis=n,...", mesh_help);
  add_config_flag(parser, flags);
  add_memory_flags(parser, flags.reserve, flags.memory_fraction);
  add_xla_flags(parser, flags.xla_flags);
  parser.add("--program", flags.program, "NAME",
             "train or train_compile; default: train_compile with compile_topology", names_of(programs));
  parser.add_settings(flags.key_values, words_help);
  say_flags_of_searches(parser);
}

MachineChoice read_machine_choice(const RunFlags& flags) {
  return {flags.hardware, parse_small_count("--chips", flags.chips), parse_positive("--slices", flags.slices),
          read_step_program(flags)};
}

Configuration read_configuration(const RunFlags& flags) {
  const MachineChoice machine = read_machine_choice(flags);
  AskedRun run = read_run(GivenArguments(all_words(flags), flags.config_file), machine);
  run.memory_limits = read_memory_limits(flags.reserve, flags.memory_fraction);
  check_memory_limits(run.memory_limits, run.machine.hardware);
  if (flags.mesh) run = on_mesh(std::move(run), read_axes(*flags.mesh));
  return configured(run);
}

}  // namespace shardplan
