#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <formats/strict_json.hpp>
#include <optional>
#include <rules/load_rules.hpp>
#include <rules/rule_file.hpp>
#include <shardplan/embedded_file.hpp>
#include <shardplan/error.hpp>
#include <span>

namespace shardplan {

std::span<const EmbeddedFile> embedded_rule_sets();

namespace {

std::optional<std::string> built_in(std::string_view name) {
  for (const auto& set : embedded_rule_sets())
    if (set.name == name) return std::string(set.text);
  return std::nullopt;
}

/// configs/types.py lists 2d-fsdp, but the file behind it was reverted: pydantic accepts it, loading fails.
[[noreturn]] void fail_unknown_set(std::string_view name) {
  if (name == "2d-fsdp")
    throw InputError(
        "rule set '2d-fsdp': MaxText lists the name but has no custom_mesh_and_rule/2d-fsdp.yml, so a run stops at "
        "start-up; deepseek3-671b-2dfsdp brings such rules with its model");
  throw InputError(unknown_name("rule set", name, rule_set_names(), "shardplan rules list"));
}

/// What a user types with a slash or an extension is meant as a file, and so is what no set is called and a file is.
bool looks_like_path(std::string_view text) {
  std::error_code none;  // a name that no file can have is no file's
  return text.find_first_of("/\\.") != std::string_view::npos || std::filesystem::is_regular_file(text, none);
}

/// The mesh axes over which MaxText's sets lay out the batch: all of them but diloco, whose replicas train apart.
std::vector<std::string> batch_axes(std::vector<std::string> mesh_axes) {
  std::erase(mesh_axes, name_of(AxisRole::diloco));
  return mesh_axes;
}

void check_data_sharding(const RuleSet& set) {
  for (const auto& axis : set.data_sharding)
    if (std::find(set.mesh_axes.begin(), set.mesh_axes.end(), axis) == set.mesh_axes.end())
      throw InputError(fmt::format("{}: data_sharding: {}", set.name, unknown_name("mesh axis", axis, set.mesh_axes)));
}

RuleSet with_default_mesh(RuleSet set) {
  const RuleSet standard = load_rules("default");
  set.mesh_axes = standard.mesh_axes;
  if (set.data_sharding.empty()) set.data_sharding = standard.data_sharding;
  return set;
}

}  // namespace

std::vector<std::string> rule_set_names() {
  std::vector<std::string> names;
  for (const auto& set : embedded_rule_sets()) names.emplace_back(set.name);
  return names;
}

std::vector<std::string> published_rule_set_names() {
  auto names = rule_set_names();
  std::erase(names, "ep-tp");
  return names;
}

bool is_published(const RuleSet& rules) {
  const auto names = published_rule_set_names();
  return std::find(names.begin(), names.end(), rules.name) != names.end();
}

std::string rules_yaml(std::string_view name) {
  if (auto text = built_in(name)) return *text;
  fail_unknown_set(name);
}

RuleSet load_rules(const std::string& name_or_path) {
  if (const auto text = built_in(name_or_path)) {
    RuleSet set = parse_rules(*text, name_or_path);
    set.custom = name_or_path != "default";
    return set;
  }
  if (!looks_like_path(name_or_path)) fail_unknown_set(name_or_path);
  return parse_rules(read_file(name_or_path), name_or_path);
}

RuleSet parse_rules(std::string_view yaml, const std::string& file) {
  RuleFile content = read_rule_file(yaml, file);
  require_rules(content, file);
  RuleSet set{.name = file,
              .mesh_axes = std::move(content.mesh_axes),
              .rules = std::move(content.rules),
              .data_sharding = std::move(content.data_sharding),
              .custom = content.other_keys.empty()};
  if (set.mesh_axes.empty()) set = with_default_mesh(std::move(set));
  if (set.data_sharding.empty()) set.data_sharding = batch_axes(set.mesh_axes);
  check_data_sharding(set);
  return set;
}

ModelRules parse_rule_changes(std::string_view yaml, const std::string& file) {
  RuleFile content = read_rule_file(yaml, file);
  return {.override_rules = content.override_rules,
          .mesh_axes = std::move(content.mesh_axes),
          .rules = std::move(content.rules),
          .data_sharding = std::move(content.data_sharding)};
}

}  // namespace shardplan
