// shardplan hardware|models|rules list|show. `show` prints a data file, ready to copy and edit: a built-in one as it is
// written, of a user's model what was understood.
#include <fmt/format.h>

#include <algorithm>
#include <compilers/load_compiler.hpp>
#include <formats/strict_json.hpp>
#include <hardware/load_profile.hpp>
#include <hardware/machine_names.hpp>
#include <models/load_model.hpp>
#include <models/print_model_file.hpp>
#include <planner/cli/commands.hpp>
#include <planner/cli/parse_words.hpp>
#include <planner/report/json/json_catalog.hpp>
#include <planner/report/text/text_catalog.hpp>
#include <rules/load_rules.hpp>
#include <shardplan/error.hpp>

namespace shardplan {
namespace {

template <class Load>
auto load_all(const std::vector<std::string>& names, Load load) {
  std::vector<decltype(load(names[0]))> all;
  for (const auto& name : names) all.push_back(load(name));
  return all;
}

bool is_built_in(const std::string& name, const std::vector<std::string>& names) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

CatalogMachine catalog_machine(const std::string& name) {
  HardwareProfile profile = load_profile(machine_called(name).profile);  // of v5p-16 the machine's
  Compiler compiler = compiler_of(profile, "");
  return {std::move(profile), std::move(compiler)};
}

std::string ended(std::string text) { return text.ends_with('\n') ? text : text + "\n"; }

std::string profile_source(const std::string& name) {
  return ended(is_json_path(name) ? read_file(name) : profile_json(machine_called(name).profile));
}

/// A built-in model as its file has it; of any other file what was understood of it.
std::string model_source(const std::string& name) {
  const Model model = load_model(name);
  const bool built_in = is_built_in(model.name, model_names()) && load_model(model.name) == model;
  return built_in ? ended(model_json(model.name)) : print_model_file(model, name);
}

std::string rules_source(const std::string& name) {
  return ended(is_built_in(name, rule_set_names()) ? rules_yaml(name) : read_file(name));
}

template <class Text, class Json>
Task list_command(const Words& words, const std::string& kind, Text text, Json json) {
  CommandParser parser(fmt::format("The {} that shardplan knows.", kind), fmt::format("shardplan {} list", kind));
  parser.add_example(fmt::format("shardplan {} list", kind), fmt::format("all {}", kind));
  parser.parse(words);
  return parser.task([text, json](Format format, const Style& style) {
    return Answer{format == Format::json ? json() : text(style), Outcome::answered};
  });
}

template <class Text, class Json>
Task show_command(const Words& words, const std::string& kind, const std::string& example, Text text, Json json) {
  CommandParser parser(fmt::format("One of the {}, as its file has it.", kind), fmt::format("shardplan {} show", kind));
  std::optional<std::string> name;
  parser.add("NAME", name, "", "A built-in name, or a file");
  parser.add_example(fmt::format("shardplan {} show {}", kind, example), "its file");
  parser.parse(words);
  if (!name) throw InputError(fmt::format("{} show needs a NAME; `shardplan {} list` has them", kind, kind));
  return parser.task([text, json, name = *name](Format format, const Style&) {
    const std::string document = json(name);  // also checks a user's file
    return Answer{format == Format::json ? document : text(name), Outcome::answered};
  });
}

}  // namespace

Task hardware_list_command(const Words& words) {
  return list_command(
      words, "hardware",
      [](const Style& style) { return hardware_list_text(load_all(all_profile_names(), load_profile), style); },
      [] { return hardware_list_json(load_all(all_profile_names(), catalog_machine)); });
}

Task models_list_command(const Words& words) {
  return list_command(
      words, "models",
      [](const Style& style) { return model_list_text(load_all(model_names(), load_model), style); },
      [] { return model_list_json(load_all(model_names(), load_model)); });
}

Task rules_list_command(const Words& words) {
  return list_command(
      words, "rules",
      [](const Style& style) { return rule_list_text(load_all(rule_set_names(), load_rules), style); },
      [] { return rule_list_json(load_all(rule_set_names(), load_rules)); });
}

Task hardware_show_command(const Words& words) {
  return show_command(words, "hardware", "tpu-v5p", profile_source,
                      [](const std::string& name) { return hardware_json(catalog_machine(name)); });
}

Task models_show_command(const Words& words) {
  return show_command(words, "models", "mixtral-8x7b", model_source,
                      [](const std::string& name) { return model_show_json(load_model(name)); });
}

Task rules_show_command(const Words& words) {
  return show_command(words, "rules", "cp-as-ep", rules_source,
                      [](const std::string& name) { return rules_json(load_rules(name)); });
}

}  // namespace shardplan
