#include <algorithm>
#include <filesystem>
#include <map>
#include <planner/cli/flags/launch_words.hpp>
#include <shardplan/error.hpp>
#include <shardplan/spelling.hpp>

namespace shardplan {
namespace {

bool is_python(const std::string& word) {
  const std::string name = std::filesystem::path(word).filename().string();
  return name == "python" || name == "python3";
}

bool has_ending(const std::string& word, const std::string& ending) {
  return word.ends_with(ending) && word.find('=') == word.npos;
}

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
         std::all_of(name.begin(), name.end(), [](char c) { return (c >= 'A' && c <= 'Z') || c == '_'; });
}

void add_variable(Words& all, const std::string& word) {
  const auto equals = word.find('=');
  const std::string name = word.substr(0, equals);
  const auto flag = flags_of_variables().find(name);
  if (flag == flags_of_variables().end()) {
    std::vector<std::string> known;
    for (const auto& [variable, ignored] : flags_of_variables()) known.push_back(variable);
    throw InputError(unknown_name("variable", name, known) + " (leave it out if it changes nothing of the step)");
  }
  all.push_back(flag->second);
  all.push_back(word.substr(equals + 1));
}

/// Behind python: -m MODULE or FILE.py.
Words::const_iterator program_end(Words::const_iterator python, Words::const_iterator end) {
  auto word = std::next(python);
  if (word != end && *word == "-m") ++word;
  else if (word != end && !has_ending(*word, ".py")) word = end;
  if (word == end) throw InputError(*python + ": of which program? paste a launch of MaxText whole, python3 -m MODULE KEY=VALUE…");
  return std::next(word);
}

}  // namespace

Words without_launch(const Words& words) {
  const auto python = std::find_if(words.begin(), words.end(), is_python);
  if (python == words.end()) return words;
  Words all;
  for (auto word = words.begin(); word != python; ++word)
    is_variable(*word) ? add_variable(all, *word) : all.push_back(*word);
  auto word = program_end(python, words.end());
  if (word != words.end() && has_ending(*word, ".yml")) {
    if (std::filesystem::path(*word).filename() != "base.yml") all.insert(all.end(), {"--config", *word});
    ++word;
  }
  all.insert(all.end(), word, words.end());
  return all;
}

}  // namespace shardplan
