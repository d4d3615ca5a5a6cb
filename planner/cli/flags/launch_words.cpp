#include <fmt/format.h>

#include <algorithm>
#include <arguments/flag_arguments.hpp>
#include <array>
#include <filesystem>
#include <map>
#include <planner/cli/flags/launch_words.hpp>
#include <planner/cli/flags/run_flags.hpp>
#include <shardplan/error.hpp>
#include <shardplan/spelling.hpp>

namespace shardplan {
namespace {

/// "python", "python3", "/opt/bin/python3.12"
bool is_python(const std::string& word) {
  const std::string name = std::filesystem::path(word).filename().string();
  constexpr std::string_view stem = "python";
  return name.starts_with(stem) && name.find_first_not_of("0123456789.", stem.size()) == name.npos;
}

bool has_ending(const std::string& word, std::string_view ending) {
  return word.ends_with(ending) && word.find('=') == word.npos;
}

bool is_yaml(const std::string& word) { return has_ending(word, ".yml") || has_ending(word, ".yaml"); }

const std::map<std::string, std::string>& flags_of_variables() {
  static const std::map<std::string, std::string> flags = {{"LIBTPU_INIT_ARGS", "--xla-flags"},
                                                           {"XLA_FLAGS", "--xla-flags"},
                                                           {"XLA_PYTHON_CLIENT_MEM_FRACTION", "--memory-fraction"}};
  return flags;
}

/// A variable's name is in capitals, a flag of shardplan or a key of MaxText is not.
bool is_variable(const std::string& word) {
  const std::string name = word.substr(0, word.find('='));
  return word.find('=') != word.npos && !name.empty() &&
         name.find_first_not_of("ABCDEFGHIJKLMNOPQRSTUVWXYZ_0123456789") == name.npos;
}

const std::string& flag_of(const std::string& variable) {
  const auto flag = flags_of_variables().find(variable);
  if (flag != flags_of_variables().end()) return flag->second;
  std::vector<std::string> known;
  for (const auto& [name, ignored] : flags_of_variables()) known.push_back(name);
  throw InputError(unknown_name("variable", variable, known) + " (leave it out if it changes nothing of the step)");
}

/// Variables of recipes that say where a run logs, or which backend and modules it has.
bool changes_no_step(std::string_view variable) {
  constexpr std::array<std::string_view, 9> names = {
      "JAX_PLATFORMS",        "ENABLE_PJRT_COMPATIBILITY", "TF_CPP_MIN_LOG_LEVEL", "TPU_STDERR_LOG_LEVEL",
      "TPU_MIN_LOG_LEVEL",    "TPU_VMODULE",               "NCCL_DEBUG",           "PYTHONPATH",
      "PYTHONUNBUFFERED"};
  return std::find(names.begin(), names.end(), variable) != names.end();
}

bool sets_variables(std::string_view word) { return word == "export" || word == "env"; }

/// What stands in front of python, as words: variables of one flag are one value, those that are empty nothing.
Words before_python(Words::const_iterator word, Words::const_iterator python) {
  Words words;
  std::map<std::string, std::string> values;
  for (; word != python; ++word) {
    if (!is_variable(*word)) {
      if (!sets_variables(*word)) words.push_back(*word);
      continue;
    }
    const auto equals = word->find('=');
    if (changes_no_step(word->substr(0, equals))) continue;
    std::string& value = values[flag_of(word->substr(0, equals))];
    if (!value.empty() && equals + 1 < word->size()) value += ' ';
    value += word->substr(equals + 1);
  }
  for (const auto& [flag, value] : values)
    if (!value.empty()) words.insert(words.end(), {flag, value});
  return words;
}

/// What trains from the start, which is what is costed, by the names that MaxText has and had.
constexpr std::array<std::string_view, 4> pre_training = {
    "maxtext.trainers.pre_train.train", "maxtext.trainers.pre_train.train_compile", "MaxText.train",
    "MaxText.train_compile"};

/// "src/MaxText/train.py" as "src.MaxText.train".
std::string as_module(const std::string& script) {
  std::string name = std::filesystem::path(script).replace_extension().lexically_normal().string();
  std::replace(name.begin(), name.end(), '/', '.');
  return name;
}

/// Whether the last parts of a dotted name are those of another.
bool ends_in(std::string_view name, std::string_view last) {
  return name.ends_with(last) && (name.size() == last.size() || name[name.size() - last.size() - 1] == '.');
}

/// A script's path may begin anywhere, a folder of MaxText's among them.
bool is_pre_training(const std::string& program, bool is_module) {
  const std::string name = is_module ? program : as_module(program);
  return std::any_of(pre_training.begin(), pre_training.end(), [&](std::string_view known) {
    return ends_in(name, known) || (!is_module && ends_in(known, name));
  });
}

/// Behind python and its own flags: -m MODULE or FILE.py.
Words::const_iterator program_end(Words::const_iterator python, Words::const_iterator end) {
  auto word = std::next(python);
  while (word != end && word->starts_with('-') && *word != "-m") ++word;
  const bool is_module = word != end && *word == "-m";
  if (is_module) ++word;
  else if (word != end && !has_ending(*word, ".py")) word = end;
  if (word == end)
    throw InputError(*python + ": of which program? paste a launch of MaxText whole, python3 -m MODULE KEY=VALUE…");
  if (!is_pre_training(*word, is_module))
    throw InputError(fmt::format("{}: shardplan costs MaxText's pre-training, and no other program: expected {} or {}",
                                 *word, pre_training[0], pre_training[1]));
  return std::next(word);
}

bool gives_xla_flags(const Words& words) {
  const auto is_flag = [](const std::string& word) { return word == "--xla-flags" || word.starts_with("--xla-flags="); };
  return says_xla_flags(words) || std::any_of(words.begin(), words.end(), is_flag);
}

}  // namespace

Words without_launch(const Words& words) {
  const auto python = std::find_if(words.begin(), words.end(), is_python);
  if (python == words.end()) {
    if (std::find(words.begin(), words.end(), "export") != words.end())
      throw InputError("export: the shell runs what stands behind && by itself; paste the variables and python3 as one "
                       "command without export and &&");
    return words;
  }
  Words all = before_python(words.begin(), python);
  auto word = program_end(python, words.end());
  if (word != words.end() && is_yaml(*word)) {
    if (std::filesystem::path(*word).filename() != "base.yml") all.insert(all.end(), {"--config", *word});
    ++word;
  }
  all.insert(all.end(), word, words.end());
  if (!gives_xla_flags(all)) all.insert(all.end(), {"--xla-flags", std::string(no_flags)});
  return all;
}

}  // namespace shardplan
