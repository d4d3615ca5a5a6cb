// Which table a key is in.
#include <fmt/format.h>

#include <algorithm>
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

const IgnoredTopic* topic_of(const std::string& key) {
  for (const IgnoredTopic& topic : ignored_topics())
    if (std::find(topic.keys.begin(), topic.keys.end(), key) != topic.keys.end()) return &topic;
  return nullptr;
}

ArgumentRole role_of(const std::string& key) {
  if (const auto found = roles().find(key); found != roles().end()) return found->second;
  throw InputError(unknown_name("argument", key, argument_names()));
}

}  // namespace shardplan
