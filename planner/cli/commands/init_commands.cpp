// shardplan hardware init NAME, models init NAME: a data file of one's own to start from.
#include <fmt/format.h>

#include <hardware/load_profile.hpp>
#include <hardware/machine_names.hpp>
#include <models/load_model.hpp>
#include <models/model_names.hpp>
#include <planner/cli/commands.hpp>
#include <planner/cli/parse_words.hpp>
#include <planner/report/json/commented_files.hpp>
#include <shardplan/error.hpp>

namespace shardplan {
namespace {

/// What begins a file of one kind of data.
struct Starter {
  std::string kind, usual;
  std::optional<std::string> (*built_in)(const std::string& name);  ///< its own name; empty where there is none
  std::string (*source)(const std::string& name);                   ///< throws InputError on an unknown name
  std::string (*commented)(const std::string& name, const std::string& like);
  std::string (*plain)(const std::string& name, const std::string& like);
};

const Starter hardware_starter{"hardware", "h100", profile_called, profile_json, commented_profile, plain_profile};
const Starter model_starter{"models", "llama3.1-8b", model_called, model_json, commented_model, plain_model};

/// The name of a built-in one would be taken for it by whoever reads an answer.
void check_new(const std::string& name, const Starter& starter) {
  if (const auto known = starter.built_in(name))
    throw InputError(fmt::format("{} init {}: {} is built in; give yours another name", starter.kind, name, *known));
}

Task init_command(const Words& words, const Starter& starter) {
  CommandParser parser(
      "A file to start from: every key that it can have, with what it means. Text has comments, json has none.",
      fmt::format("shardplan {} init", starter.kind));
  std::optional<std::string> name, like;
  parser.add("NAME", name, "", "What it is to be called");
  parser.add("--like", like, "NAME", fmt::format("The built-in one that it begins as (default: {})", starter.usual));
  parser.add_example(fmt::format("shardplan {} init mine --like {} -o mine.json", starter.kind, starter.usual),
                     "a file to edit");
  parser.parse(words);
  if (!name) throw InputError(fmt::format("{} init needs a NAME", starter.kind));
  check_new(*name, starter);
  const std::string asked = like.value_or(starter.usual), begin = starter.built_in(asked).value_or(asked);
  starter.source(begin);  // throws unless it is built in
  return parser.task([starter, name = *name, begin](Format format, const Style&) {
    return Answer{format == Format::json ? starter.plain(name, begin) : starter.commented(name, begin), Outcome::answered};
  });
}

}  // namespace

Task hardware_init_command(const Words& words) { return init_command(words, hardware_starter); }

Task models_init_command(const Words& words) { return init_command(words, model_starter); }

}  // namespace shardplan
