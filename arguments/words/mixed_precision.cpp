#include <fmt/format.h>

#include <algorithm>
#include <arguments/words/mixed_precision.hpp>
#include <filesystem>
#include <formats/strict_json.hpp>
#include <regex>
#include <shardplan/error.hpp>

namespace shardplan {
namespace {

constexpr std::string_view everywhere = "__default__";

struct OwnFile {
  std::string_view name, text;
};
constexpr OwnFile own_files[] = {
    {"configs/quantization/dense_llm_subchannel.json",
     R"({"__default__": {"w_bits": 8, "a_bits": 8}, ".*/query": {"w_bits": 4, "tile_size": 128},
         ".*/key": {"w_bits": 4, "tile_size": 256}, ".*/value": {"w_bits": 4}, ".*/out": {"w_bits": 4},
         ".*/wi_0": {"w_bits": 4}, ".*/wo": {"w_bits": 4}})"},
    {"configs/quantization/dense_llm_weight_only_scale.json",
     R"({"__default__": {"w_bits": 8}, ".*/query": {"w_bits": 4, "w_scale": 0.8}, ".*/key": {"w_bits": 4, "w_scale": 0.9},
         ".*/value": {"w_bits": 4}, ".*/out": {"w_bits": 4}, ".*/wi_0": {"w_bits": 4}, ".*/wo": {"w_bits": 4}})"},
    {"configs/quantization/int4_weight_only.json", R"({"__default__": {"w_bits": 4}})"},
    {"configs/quantization/int8_weight_only.json", R"({"__default__": {"w_bits": 8}})"}};

/// Module paths of layers in a training run, of scans and beside them.
constexpr std::string_view layer_paths[] = {"decoder/layers",         "decoder/dense_layers", "decoder/moe_layers",
                                            "decoder/layers_0",       "decoder/layers_1",     "decoder/dense_layers_0",
                                            "decoder/moe_layers_0",   "decoder/layers_remainder"};

struct Entry {
  std::optional<int> weight_bits, activation_bits;
  std::int64_t tile_size = -1;
  bool operator==(const Entry&) const = default;
};

std::string text_of(const std::string& path) {
  std::error_code error;
  if (!std::filesystem::exists(path, error))
    for (const OwnFile& own : own_files)
      if (path.ends_with(own.name)) return std::string(own.text);
  return read_file(path);
}

std::optional<int> read_bits(StrictObject& object, const std::string& key, std::optional<int> otherwise) {
  if (!object.has(key)) return otherwise;
  const nlohmann::json& value = object.any(key);
  if (value.is_null()) return std::nullopt;
  if (!value.is_number_integer()) object.fail(key, "a whole number of bits, or null");
  return value.get<int>();
}

/// Keys that it leaves out are those of `everywhere`; clipping scales are constants.
Entry read_entry(StrictObject object, const Entry& otherwise) {
  Entry entry;
  entry.weight_bits = read_bits(object, "w_bits", otherwise.weight_bits);
  entry.activation_bits = read_bits(object, "a_bits", otherwise.activation_bits);
  entry.tile_size = object.integer_or("tile_size", otherwise.tile_size);
  for (const char* scale : {"w_scale", "a_scale"}) object.number_or(scale, 1);
  object.finish();
  return entry;
}

/// How many of the layers' module paths the name is.
std::ptrdiff_t layers_named(const std::string& name, const std::string& where) {
  try {
    const std::regex pattern(name);
    return std::count_if(std::begin(layer_paths), std::end(layer_paths), [&](std::string_view path) {
      return std::regex_match(path.begin(), path.end(), pattern);
    });
  } catch (const std::regex_error&) {
    throw InputError(fmt::format("{}: '{}' is no regular expression", where, name));
  }
}

void check(const Entry& entry, const std::string& where) {
  if (entry.tile_size != -1)
    throw InputError(fmt::format("{}: tile_size={}: scales of parts of a channel are not modelled", where, entry.tile_size));
  for (const auto& bits : {entry.weight_bits, entry.activation_bits})
    if (bits && *bits != 8 && *bits != 4)
      throw InputError(fmt::format("{}: products of {} bits are not modelled, of 4 and 8 they are", where, *bits));
}

}  // namespace

MixedPrecision read_mixed_precision(const std::string& path, const std::string& place) {
  if (path.empty()) return {};
  const nlohmann::json document = parse_json(text_of(path), path);
  StrictObject file(document, path);
  const std::string rest(everywhere);
  bool has_layers = file.has(rest);
  const Entry otherwise = has_layers ? read_entry(file.object(rest), {}) : Entry{};
  Entry found = otherwise;
  std::string found_under;
  MixedPrecision precision{path, {}, {}};
  for (const auto& [name, value] : document.items()) {
    if (name == everywhere) continue;
    const Entry entry = read_entry(file.object(name), otherwise);
    const auto named = layers_named(name, path);
    if (named == 0) precision.unmatched.push_back(name);
    if (named == 0) continue;
    if (named < std::ssize(layer_paths))
      throw InputError(fmt::format("{}: '{}' is the name of some layers alone, and layers that differ are not modelled; "
                                   "all of them: decoder/.*layers.*", path, name));
    if (!found_under.empty() && entry != found)
      throw InputError(fmt::format("{}: '{}' and '{}' both name all layers", path, found_under, name));
    found = entry;
    found_under = name;
    has_layers = true;
  }
  if (!has_layers)
    throw InputError(fmt::format("{}: neither __default__ nor the name of a layer (decoder/.*layers.*): MaxText stops with "
                                 "a KeyError", place));
  check(found, path);
  precision.weight_bits = found.weight_bits;
  precision.activation_bits = found.activation_bits;
  return precision;
}

}  // namespace shardplan
