#pragma once
// A word of a data file as an enumerator.
#include <fmt/format.h>

#include <array>
#include <formats/strict_json.hpp>
#include <shardplan/error.hpp>
#include <utility>

namespace shardplan {

template <class Value, std::size_t count>
using NamedValues = std::array<std::pair<std::string_view, Value>, count>;

/// The value of `known` called `text`, which stands under `key`. Throws InputError with the nearest names.
template <class Value, std::size_t count>
Value value_named(const NamedValues<Value, count>& known, const std::string& text, const StrictObject& object,
                  const std::string& key) {
  std::vector<std::string> names;
  for (const auto& [name, value] : known) {
    if (name == text) return value;
    names.emplace_back(name);
  }
  throw InputError(fmt::format("{}: {}", object.where(), unknown_name(key, text, names)));
}

/// What name_of calls each of `all`.
template <class Values>
std::vector<std::string> names_of(const Values& all) {
  std::vector<std::string> names;
  for (const auto value : all) names.emplace_back(name_of(value));
  return names;
}

/// The one of `all` that name_of calls `name`. Throws InputError, beginning with `where`, with the nearest names.
template <class Values>
auto enumerator_named(const Values& all, std::string_view noun, const std::string& name, const std::string& where) {
  for (const auto value : all)
    if (name_of(value) == name) return value;
  throw InputError(fmt::format("{}: {}", where, unknown_name(noun, name, names_of(all))));
}

/// The value of `known` that `key` names. Throws InputError likewise.
template <class Value, std::size_t count>
Value value_of(const NamedValues<Value, count>& known, StrictObject& object, const std::string& key) {
  return value_named(known, object.text(key), object, key);
}

}  // namespace shardplan
