#include <algorithm>
#include <arguments/keys/argument_table.hpp>
#include <arguments/passed_arguments.hpp>

namespace shardplan {
namespace {

bool is_repeated(const std::string& key) {
  if (key == "use_tokamax_splash" || key == "override_model_config") return true;
  const auto topics = ignored_topics();
  return std::any_of(topics.begin(), topics.end(), [&](const IgnoredTopic& topic) {
    return topic.in_commands && std::find(topic.keys.begin(), topic.keys.end(), key) != topic.keys.end();
  });
}

}  // namespace

PassedArguments passed_arguments(const GivenArguments& arguments) {
  PassedArguments passed;
  for (const auto& [key, argument] : arguments.all())
    if (!argument.in_file && is_repeated(key)) passed.emplace_back(key, argument.text);
  return passed;
}

void settle_inner_values(Model& model, PassedArguments& passed) {
  std::erase_if(passed, [&](const auto& argument) {
    const auto own = std::find_if(model.inner_values.begin(), model.inner_values.end(),
                                  [&](const auto& value) { return value.first == argument.first; });
    if (own == model.inner_values.end()) return false;
    own->second = argument.second;
    return true;
  });
}

}  // namespace shardplan
