// Which table a key is in.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <arguments/keys/argument_table.hpp>
#include <shardplan/error.hpp>

namespace shardplan {
namespace {

using Roles = std::map<std::string, ArgumentRole, std::less<>>;

template <class Table>
void add(Roles& roles, const Table& table, ArgumentRole role) {
  for (const auto& row : table)
    if (!roles.emplace(row.key, role).second)
      throw InternalError(fmt::format("argument '{}' is in two tables", row.key));
}

std::vector<SpecialArgument> axis_keys() {
  static std::vector<std::string> names;
  if (names.empty())
    for (const char* network : {"ici", "dcn"})
      for (const auto& row : axis_arguments()) names.push_back(axis_key(network, row.axis));
  std::vector<SpecialArgument> rows;
  for (const auto& name : names) rows.push_back({name, ""});
  return rows;
}

std::vector<SpecialArgument> ignored_keys() {
  std::vector<SpecialArgument> rows;
  for (const auto& topic : ignored_topics()) {
    std::string_view rest = topic.keys;
    while (!rest.empty()) {
      const auto space = rest.find(' ');
      rows.push_back({rest.substr(0, space), topic.what});
      rest = space == std::string_view::npos ? std::string_view{} : rest.substr(space + 1);
    }
  }
  return rows;
}

const Roles& roles() {
  static const Roles all = [] {
    Roles made;
    add(made, setting_arguments(), ArgumentRole::setting);
    add(made, special_arguments(), ArgumentRole::special);
    add(made, model_dim_arguments(), ArgumentRole::model_dim);
    add(made, architecture_arguments(), ArgumentRole::architecture);
    add(made, remat_arguments(), ArgumentRole::remat);
    add(made, axis_keys(), ArgumentRole::axis);
    add(made, unmodelled_arguments(), ArgumentRole::unmodelled);
    add(made, ignored_keys(), ArgumentRole::ignored);
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

ArgumentRole role_of(const std::string& key) {
  if (const auto found = roles().find(key); found != roles().end()) return found->second;
  throw InputError(unknown_name("argument", key, argument_names()));
}

}  // namespace shardplan
