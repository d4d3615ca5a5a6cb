#include <algorithm>
#include <arguments/keys/argument_table.hpp>
#include <arguments/passed_arguments.hpp>
#include <arguments/words/argument_precedence.hpp>
#include <models/model_overrides.hpp>

namespace shardplan {
namespace {

bool is_repeated(const std::string& key) {
  const auto specials = special_arguments();
  const IgnoredTopic* topic = topic_of(key);
  return std::any_of(specials.begin(), specials.end(),
                     [&](const SpecialArgument& special) { return special.in_commands && special.key == key; }) ||
         (topic && topic->in_commands) || key == activations_key;
}

/// What other models' layers read.
bool is_unread(const std::string& key, const Model& model) { return is_model_dim(key) && is_unread_dim(model, key); }

using InnerValue = std::pair<std::string, std::string>;

auto own_value(Model& model, const std::string& key) {
  return std::find_if(model.inner_values.begin(), model.inner_values.end(),
                      [&](const InnerValue& value) { return value.first == key; });
}

/// Whether the model's file carries the value, which is the command line's now.
bool settles(Model& model, const std::string& key, const std::string& text) {
  const auto own = own_value(model, key);
  if (own == model.inner_values.end()) return false;
  own->second = text;
  return true;
}

/// Of a line of a YAML file, whether a command has to say it: not base.yml's own value, nor what the model's file wins over.
bool changes_run(const std::string& key, const std::string& text, Model& model) {
  const IgnoredTopic* topic = topic_of(key);
  if (!topic || !topic->in_commands || own_value(model, key) != model.inner_values.end()) return false;
  if (is_set_in_model_file(model, key)) return false;
  const auto otherwise = topic->base_defaults.find(key);
  return otherwise == topic->base_defaults.end() || !say_the_same(text, otherwise->second);
}

}  // namespace

PassedArguments take_passed_arguments(const GivenArguments& arguments, Model& model) {
  PassedArguments passed;
  for (const auto& [key, argument] : arguments.all()) {
    const std::string& text = argument.text;
    const bool passes = argument.in_file ? changes_run(key, text, model)
                                         : (is_repeated(key) || is_unread(key, model)) && !settles(model, key, text);
    if (passes) passed.emplace_back(key, text);
  }
  return passed;
}

}  // namespace shardplan
