#include <fmt/format.h>

#include <algorithm>
#include <arguments/keys/argument_table.hpp>
#include <arguments/words/readers_value.hpp>

namespace shardplan {
namespace {

constexpr std::string_view begins = "${", ends = "?}";

bool is_of_a_name(char letter) {
  return (letter >= 'A' && letter <= 'Z') || (letter >= '0' && letter <= '9') || letter == '_';
}

}  // namespace

std::string readers_value(std::string_view variable) { return fmt::format("{}{}{}", begins, variable, ends); }

std::optional<std::string> readers_variable(std::string_view value) {
  if (!value.starts_with(begins) || !value.ends_with(ends)) return std::nullopt;
  const std::string_view name = value.substr(begins.size(), value.size() - begins.size() - ends.size());
  if (name.empty() || !std::all_of(name.begin(), name.end(), is_of_a_name)) return std::nullopt;
  return std::string(name);
}

std::string shown_value(const std::string& key, std::string text) {
  const IgnoredTopic* topic = topic_of(key);
  return topic && !topic->variable.empty() && !text.empty() ? readers_value(topic->variable) : text;
}

}  // namespace shardplan
