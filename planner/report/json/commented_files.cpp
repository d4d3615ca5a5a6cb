#include <fmt/format.h>
#include <fmt/ranges.h>

#include <formats/print_json.hpp>
#include <planner/report/json/commented_files.hpp>
#include <planner/report/json/json_values.hpp>
#include <shardplan/embedded_file.hpp>
#include <shardplan/error.hpp>
#include <span>

namespace shardplan {

std::span<const EmbeddedFile> embedded_schemas();

namespace {

OrderedJson schema_named(std::string_view name) {
  for (const EmbeddedFile& file : embedded_schemas())
    if (file.name == name) return OrderedJson::parse(file.text);
  throw InternalError(fmt::format("no schema of {}", name));
}

/// The units of a figure; of a key with words, where no description explains them, the words.
std::vector<std::string> values_of(const OrderedJson& property) {
  if (property.contains("properties") && property["properties"].contains("unit"))
    return property["properties"]["unit"]["enum"].get<std::vector<std::string>>();
  if (property.contains("enum") && !property.contains("description"))
    return property["enum"].get<std::vector<std::string>>();
  return {};
}

/// "Of a device (FLOP/s, GFLOP/s, …)"
std::string comment_on(const OrderedJson& property) {
  std::string text = property.value("description", "");
  const std::vector<std::string> values = values_of(property);
  if (!values.empty()) text += fmt::format("{}({})", text.empty() ? "" : " ", fmt::join(values, ", "));
  if (property.contains("default")) text += fmt::format("; left out: {}", print_json(property["default"]));
  return text;
}

/// What a key that nobody said may look like.
OrderedJson example_of(const OrderedJson& property) {
  if (property.contains("allOf"))
    return {{"value", 1},
            {"unit", property["properties"]["unit"]["enum"].front()},
            {"source", "where from"},
            {"basis", "assumed"}};
  if (property.contains("default")) return property["default"];
  if (property.contains("enum")) return property["enum"].front();
  const std::string type = property.value("type", "object");
  if (type == "string") return "";
  if (type == "boolean") return false;
  if (type == "array") return OrderedJson::array();
  return type == "object" ? OrderedJson::object() : OrderedJson(0);
}

/// Keys in the order of the schema, but `last`, which every file has, at the end: what stands before it may be a comment.
std::string commented(const OrderedJson& document, const OrderedJson& schema, const std::string& last) {
  std::string text = "{\n", end;
  for (const auto& [key, property] : schema["properties"].items()) {
    if (key == "$schema") continue;
    const bool said = document.contains(key);
    const OrderedJson value = said ? document[key] : example_of(property);
    const std::string comment = comment_on(property);
    std::string& part = key == last ? end : text;
    if (!comment.empty()) part += fmt::format("  // {}\n", comment);
    part += fmt::format("  {}\"{}\": {}{}\n", said ? "" : "// ", key, print_json(value), key == last ? "" : ",");
  }
  return text + end + "}\n";
}

/// Whoever copies a figure hasn't looked it up, nor those inside it.
void mark_as_copied(OrderedJson& value, const std::string& like) {
  if (!value.is_structured()) return;
  for (auto& part : value) mark_as_copied(part, like);
  if (value.contains("source")) value["source"] = fmt::format("as {}: replace", like);
  if (value.contains("basis")) value["basis"] = "assumed";
}

OrderedJson parsed(const Beginning& like) {
  return OrderedJson::parse(like.text, nullptr, true, /*ignore_comments=*/true);
}

OrderedJson profile_like(const std::string& name, const Beginning& like) {
  OrderedJson profile = parsed(like);
  for (const char* key : {"aliases", "published_mfu_dense", "published_mfu_moe", "step_error"})  // nothing ran on it
    profile.erase(key);
  for (auto& value : profile) mark_as_copied(value, like.called);
  profile["name"] = name;
  profile["description"] = fmt::format("{}, begun as {}", name, like.called);
  profile["slices"]["prefix"] = name;
  profile["launch"]["compile_topology"] = false;  // MaxText doesn't know slices of that name
  return profile;
}

OrderedJson model_like(const std::string& name, const Beginning& like) {
  OrderedJson model = parsed(like);
  for (const char* key : {"note", "run_arguments", "unknown_to_maxtext"}) model.erase(key);
  model["name"] = name;
  model["source"] = fmt::format("begun as {}", like.called);
  return model;
}

}  // namespace

std::string commented_profile(const std::string& name, const Beginning& like) {
  return commented(profile_like(name, like), schema_named("hardware-profile"), "launch");
}

std::string plain_profile(const std::string& name, const Beginning& like) {
  return print_json(profile_like(name, like), 2) + "\n";
}

std::string commented_model(const std::string& name, const Beginning& like) {
  return commented(model_like(name, like), schema_named("model"), "source");
}

std::string plain_model(const std::string& name, const Beginning& like) {
  return print_json(model_like(name, like), 2) + "\n";
}

}  // namespace shardplan
