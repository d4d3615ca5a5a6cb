#include <algorithm>
#include <arguments/keys/argument_table.hpp>
#include <arguments/passed_arguments.hpp>
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

/// Whether the model's file carries the value, which is the command line's now.
bool settles(Model& model, const std::string& key, const std::string& text) {
  const auto own = std::find_if(model.inner_values.begin(), model.inner_values.end(),
                                [&](const auto& value) { return value.first == key; });
  if (own == model.inner_values.end()) return false;
  own->second = text;
  return true;
}

}  // namespace

PassedArguments take_passed_arguments(const GivenArguments& arguments, Model& model) {
  PassedArguments passed;
  for (const auto& [key, argument] : arguments.all())
    if (!argument.in_file && (is_repeated(key) || is_unread(key, model)) && !settles(model, key, argument.text))
      passed.emplace_back(key, argument.text);
  return passed;
}

}  // namespace shardplan
