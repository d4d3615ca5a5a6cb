// shardplan hardware init NAME, models init NAME: a data file of one's own to start from.
#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <formats/strict_json.hpp>
#include <hardware/load_profile.hpp>
#include <hardware/machine_names.hpp>
#include <models/load_model.hpp>
#include <models/model_names.hpp>
#include <models/print_model_file.hpp>
#include <planner/cli/commands.hpp>
#include <planner/cli/streams/output_file.hpp>
#include <planner/cli/parse_words.hpp>
#include <planner/report/json/commented_files.hpp>
#include <shardplan/error.hpp>
#include <string_view>

namespace shardplan {
namespace {

/// What begins a file of one kind of data.
struct Starter {
  std::string kind, usual, example;
  std::optional<std::string> (*built_in)(const std::string& name);  ///< its own name; empty where there is none
  /// Throws InputError on a name that is neither built in nor a good file's. `to` is where the new file will be.
  Beginning (*begin)(const std::string& like, const std::string& to);
  std::string (*commented)(const std::string& name, const Beginning& like);
  std::string (*plain)(const std::string& name, const Beginning& like);
};

Beginning begin_profile(const std::string& like, const std::string& to) {
  check_has_no_size("--like", like);
  if (!is_json_path(like)) return {profile_called(like).value_or(like), profile_json(like)};
  load_profile(like);
  return {like, moved_profile(read_file(like), like, to)};
}

Beginning begin_model(const std::string& like, const std::string&) {
  const Model model = load_model(like);
  const auto known = model_called(like);
  const bool is_file = !known || load_model(*known) != model;
  return is_file ? Beginning{like, print_model_file(model, like)} : Beginning{*known, model_json(*known)};
}

const Starter hardware_starter{"hardware",    "h100",        "my-machine",      profile_called,
                               begin_profile, commented_profile, plain_profile};
const Starter model_starter{"models",    "llama3.1-8b",   "my-model", model_called,
                            begin_model, commented_model, plain_model};

bool is_name_letter(char letter) {
  constexpr std::string_view marks = "._-";
  return std::isalnum(static_cast<unsigned char>(letter)) != 0 || marks.find(letter) != marks.npos;
}

/// Names stand in lists and in front of prices. That of a built-in one would be taken for it by whoever reads an answer.
void check_new(const std::string& name, const Starter& starter) {
  if (name.empty() || name.front() == '.' || !std::all_of(name.begin(), name.end(), is_name_letter))
    throw InputError(fmt::format("{} init '{}': a name has letters, digits, '.', '_' and '-' alone, as {}", starter.kind,
                                 name, starter.example));
  if (name == "all")
    throw InputError(fmt::format("{} init all: that is the word for all of them; give another", starter.kind));
  if (const auto known = starter.built_in(name))
    throw InputError(fmt::format("{} init {}: {} is built in; give yours another name", starter.kind, name, *known));
}

/// It may have been edited since it was begun.
void check_no_file(const std::optional<std::string>& file) {
  if (file && is_written(*file)) throw InputError(fmt::format("{} is there already; remove it, or write elsewhere", *file));
}

Task init_command(const Words& words, const Starter& starter) {
  CommandParser parser(
      "A file to start from: every key that it can have, with what it means. Text has comments, json has none.",
      fmt::format("shardplan {} init", starter.kind));
  std::optional<std::string> name, like;
  parser.add("NAME", name, "", "What it is to be called");
  parser.add("--like", like, "NAME|FILE", fmt::format("What it begins as (default: {})", starter.usual));
  parser.add_example(fmt::format("shardplan {} init {} --like {} -o {}.json", starter.kind, starter.example, starter.usual,
                                 starter.example),
                     "a file to edit");
  parser.parse(words);
  if (!name) throw InputError(fmt::format("{} init needs a NAME", starter.kind));
  check_new(*name, starter);
  check_no_file(parser.output_file());
  const Beginning begin = starter.begin(like.value_or(starter.usual), parser.output_file().value_or("mine.json"));
  return parser.task([starter, name = *name, begin](Format format, const Style&) {
    return Answer{format == Format::json ? starter.plain(name, begin) : starter.commented(name, begin), Outcome::answered};
  });
}

}  // namespace

Task hardware_init_command(const Words& words) { return init_command(words, hardware_starter); }

Task models_init_command(const Words& words) { return init_command(words, model_starter); }

}  // namespace shardplan
