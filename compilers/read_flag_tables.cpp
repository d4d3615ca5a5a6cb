#include <algorithm>
#include <compilers/read_flag_tables.hpp>
#include <formats/named_value.hpp>
#include <shardplan/error.hpp>

namespace shardplan {
namespace {

std::map<Habit, bool> read_switches(const nlohmann::json& value, const std::string& where) {
  StrictObject object(value, where);
  std::map<Habit, bool> switches;
  for (const auto& item : value.items())
    switches[enumerator_named(all_habits(), "habit", item.key(), where)] = object.flag(item.key());
  return switches;
}

KnownFlag read_flag(StrictObject object) {
  static constexpr NamedValues<FlagEffect, 3> effects{{{"modelled", FlagEffect::modelled},
                                                       {"none", FlagEffect::none},
                                                       {"not_modelled", FlagEffect::not_modelled}}};
  KnownFlag flag;
  flag.effect = value_of(effects, object, "effect");
  flag.does = object.text("does");
  flag.source = object.text("source");
  if (object.has("default")) flag.default_value = object.text("default");
  if (object.has("at_least")) flag.at_least = object.integer("at_least");
  if (object.has("at_most")) flag.at_most = object.integer("at_most");
  if (object.has("switches")) flag.switches = read_switches(object.any("switches"), object.where() + ".switches");
  if (object.has("sets")) {
    flag.sets = enumerator_named(all_compiler_settings(), "setting", object.text("sets"), object.where());
    flag.unit = {object.integer_at_least("unit_bytes", 1)};
  }
  if (object.has("sets_power_state")) flag.sets_power_state = object.flag("sets_power_state");
  if (object.has("host_copies")) flag.host_copies = read_host_copies(object);
  if (object.has("window_covers_gather")) flag.window_covers_gather = object.flag("window_covers_gather");
  if (object.has("asynchronous")) flag.asynchronous = read_kinds(object, "asynchronous");
  if (object.has("pipelined")) flag.pipelined = read_kinds(object, "pipelined");
  if (object.has("needs")) flag.needs = object.text("needs");
  if ((flag.effect == FlagEffect::modelled) != flag.changes_something())
    object.fail("switches", "the habits that a modelled flag switches, the setting that it `sets`, the collectives that "
                            "it makes asynchronous or pipelined, or what else of `overlap` it changes, and only there");
  object.finish();
  return flag;
}

}  // namespace

HostCopies read_host_copies(StrictObject& object) {
  static constexpr NamedValues<HostCopies, 3> named{
      {{"all", HostCopies::all}, {"backward", HostCopies::backward}, {"longest", HostCopies::longest}}};
  return value_of(named, object, "host_copies");
}

std::vector<CollectiveKind> read_kinds(StrictObject& object, const std::string& key) {
  std::vector<CollectiveKind> kinds;
  for (const std::string& name : object.texts(key))
    kinds.push_back(enumerator_named(all_collective_kinds(), "kind of collective", name, object.where() + "." + key));
  return kinds;
}

FlagTable read_flags(const nlohmann::json& value, const std::string& where) {
  StrictObject object(value, where);
  FlagTable flags;
  for (const auto& item : value.items()) flags[item.key()] = read_flag(object.object(item.key()));
  return flags;
}

std::vector<std::string> read_foreign(StrictObject object) {
  std::vector<std::string> prefixes = object.texts("prefixes");
  if (object.text("source").empty()) object.fail("source", "how it is known, not empty");
  object.finish();
  return prefixes;
}

std::vector<OfferedFlag> read_offered(const nlohmann::json& value, const std::string& where, const FlagTable& table) {
  StrictObject object(value, where);
  std::vector<OfferedFlag> offered;
  for (const auto& item : value.items()) {
    StrictObject row = object.object(item.key());
    offered.push_back({read_flag("--" + item.key() + "=" + row.text("value"), table), row.text("source")});
    if (offered.back().flag.effect != FlagEffect::modelled) row.fail("value", "of a flag of the table that is modelled");
    row.finish();
  }
  return offered;
}

std::vector<PublishedFlags> read_published(StrictObject& object, const std::string& key, const FlagTable& table) {
  std::vector<PublishedFlags> published;
  for (const auto& item : object.array(key)) {
    StrictObject row(item, object.where() + "." + key);
    PublishedFlags run{{}, row.text("source")};
    for (const std::string& word : row.texts("flags")) run.flags.push_back(read_flag(word, table));
    published.push_back(std::move(run));
    row.finish();
  }
  return published;
}

namespace {

bool is_needed(const CompilerFlag& flag, const std::vector<CompilerFlag>& others, const FlagTable& table) {
  return std::any_of(others.begin(), others.end(), [&](const CompilerFlag& other) {
    const auto row = table.find(other.name);
    return row != table.end() && row->second.needs == flag.name;
  });
}

}  // namespace

std::vector<AssumedFlags> read_assumed(StrictObject& object, const std::string& key, const FlagTable& table) {
  static constexpr NamedValues<bool, 2> kinds{{{"dense", false}, {"experts", true}}};
  std::vector<AssumedFlags> assumed;
  for (const auto& item : object.array(key)) {
    StrictObject row(item, object.where() + "." + key);
    AssumedFlags recipe{value_of(kinds, row, "layers"), {}, row.text("source")};
    for (const bool offloading : {false, true}) {
      const std::string which = offloading ? "offloading" : "flags";
      if (offloading && !row.has(which)) continue;
      for (const std::string& word : row.texts(which)) {
        recipe.flags.push_back(read_flag(word, table));
        recipe.flags.back().of_offloading = offloading;
      }
    }
    for (const CompilerFlag& flag : recipe.flags)
      if (flag.effect != FlagEffect::modelled && !is_needed(flag, recipe.flags, table))
        row.fail("flags", "flags of the table that are modelled, or that one of these needs beside it");
    if (recipe.source.empty()) row.fail("source", "whose recipes set them, not empty");
    if (std::any_of(assumed.begin(), assumed.end(), [&](const auto& a) { return a.of_mixtures == recipe.of_mixtures; }))
      row.fail("layers", "each kind once");
    assumed.push_back(std::move(recipe));
    row.finish();
  }
  return assumed;
}

}  // namespace shardplan
