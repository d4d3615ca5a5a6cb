// Which table a key is in.
#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <arguments/keys/argument_table.hpp>
#include <shardplan/error.hpp>

namespace shardplan {
namespace {

using Roles = std::map<std::string, ArgumentRole, std::less<>>;

void add(Roles& roles, const std::string& key, ArgumentRole role) {
  if (!roles.emplace(key, role).second) throw InternalError(fmt::format("argument '{}' is in two tables", key));
}

template <class Table>
void add_rows(Roles& roles, const Table& table, ArgumentRole role) {
  for (const auto& row : table) add(roles, row.key, role);
}

/// configs/types.py, LoRA; read by trainers/post_train/sft/train_sft.py, which no base.yml speaks of.
constexpr std::string_view lora_keys[] = {"lora",             "enable_lora",       "lora_rank",      "lora_alpha",
                                          "lora_module_path", "lora_weight_qtype", "lora_tile_size", "lora_restore_path"};

bool is_about_lora(std::string_view key) {
  if (key.starts_with("lora.")) key.remove_prefix(5);
  return std::find(std::begin(lora_keys), std::end(lora_keys), key) != std::end(lora_keys);
}

const Roles& roles() {
  static const Roles all = [] {
    Roles made;
    add_rows(made, setting_arguments(), ArgumentRole::setting);
    add_rows(made, special_arguments(), ArgumentRole::special);
    add_rows(made, model_dim_arguments(), ArgumentRole::model_dim);
    add_rows(made, architecture_arguments(), ArgumentRole::architecture);
    add_rows(made, remat_arguments(), ArgumentRole::remat);
    add_rows(made, unmodelled_arguments(), ArgumentRole::unmodelled);
    for (const char* network : {"ici", "dcn"})
      for (const auto& row : axis_arguments()) add(made, axis_key(network, row.axis), ArgumentRole::axis);
    for (const auto& topic : ignored_topics())
      for (const auto& key : topic.keys) add(made, key, ArgumentRole::ignored);
    return made;
  }();
  return all;
}

}  // namespace

std::string axis_key(std::string_view network, std::string_view axis) {
  for (const auto& row : axis_arguments())
    if (row.axis == axis) return fmt::format("{}_{}_parallelism", network, row.flag);
  throw InputError(fmt::format("mesh axis '{}' has no {}_…_parallelism argument in MaxText", axis, network));
}

const std::vector<std::string>& argument_names() {
  static const std::vector<std::string> names = [] {
    std::vector<std::string> all;
    for (const auto& [name, role] : roles()) all.push_back(name);
    return all;
  }();
  return names;
}

const IgnoredValues* ignored_values_of(const std::string& key) {
  for (const IgnoredTopic& topic : ignored_topics())
    for (const IgnoredValues& values : topic.values)
      if (std::find(values.keys.begin(), values.keys.end(), key) != values.keys.end()) return &values;
  return nullptr;
}

const IgnoredTopic* topic_of(const std::string& key) {
  for (const IgnoredTopic& topic : ignored_topics())
    if (std::find(topic.keys.begin(), topic.keys.end(), key) != topic.keys.end()) return &topic;
  return nullptr;
}

ArgumentRole role_of(const std::string& key) {
  if (const auto found = roles().find(key); found != roles().end()) return found->second;
  if (is_about_lora(key))
    throw InputError(fmt::format("{}: MaxText applies LoRA in its SFT trainer alone (trainers/post_train/sft), which is not "
                                 "modelled; pre-training trains every weight: leave it out",
                                 key));
  throw InputError(unknown_name("argument", key, argument_names()));
}

}  // namespace shardplan
