#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <formats/strict_json.hpp>
#include <hardware/figure_units.hpp>
#include <hardware/load_profile.hpp>
#include <hardware/read_slices.hpp>
#include <shardplan/embedded_file.hpp>
#include <shardplan/error.hpp>
#include <span>

namespace shardplan {

std::span<const EmbeddedFile> embedded_profiles();
std::span<const EmbeddedFile> embedded_toys();

namespace {

template <class Value, std::size_t count>
Value value_of(const std::array<std::pair<std::string_view, Value>, count>& known, StrictObject& object,
               const std::string& key) {
  const std::string text = object.text(key);
  std::vector<std::string> names;
  for (const auto& [name, value] : known) {
    if (name == text) return value;
    names.emplace_back(name);
  }
  throw InputError(fmt::format("{}: {}", object.where(), unknown_name(key, text, names)));
}

Basis read_basis(StrictObject& object) {
  static constexpr std::array<std::pair<std::string_view, Basis>, 4> known{{{"datasheet", Basis::datasheet},
                                                                            {"measured", Basis::measured},
                                                                            {"derived", Basis::derived},
                                                                            {"assumed", Basis::assumed}}};
  return value_of(known, object, "basis");
}

FabricKind read_fabric(StrictObject& object) {
  static constexpr std::array<std::pair<std::string_view, FabricKind>, 3> known{
      {{"torus", FabricKind::torus}, {"switched", FabricKind::switched}, {"full_mesh", FabricKind::full_mesh}}};
  return value_of(known, object, "fabric");
}

Figure read_figure(StrictObject& profile, const std::string& key, Dimension dimension) {
  StrictObject object = profile.object(key);
  Figure figure{object.number("value"), object.text("unit"), object.text("source"), read_basis(object)};
  object.finish();
  figure.value *= si_factor(figure.unit, dimension, object.where());
  if (!(figure.value > 0)) object.fail("value", "above 0");
  if (figure.source.empty()) object.fail("source", "where the number comes from, not empty");
  return figure;
}

std::optional<Figure> read_optional_figure(StrictObject& profile, const std::string& key, Dimension dimension) {
  if (!profile.has(key)) return std::nullopt;
  return read_figure(profile, key, dimension);
}

Figure read_share(StrictObject& profile, const std::string& key) {
  Figure figure = read_figure(profile, key, Dimension::share);
  if (figure.value > 1) profile.fail(key, "a share of at most 1");
  return figure;
}

int read_count(StrictObject& profile, const std::string& key) {
  const double value = read_figure(profile, key, Dimension::count).value;
  if (value != std::floor(value) || value > 1e6) profile.fail(key, "a whole number");
  return static_cast<int>(value);
}

CompilerHabits read_habits(StrictObject object) {
  CompilerHabits habits;
  habits.compiler = object.text("name");
  habits.gathers_moe_layer_weights_twice = object.flag("gathers_moe_layer_weights_twice");
  habits.gathers_activations_per_consumer = object.flag("gathers_activations_per_consumer");
  habits.attention_in_shard_map = object.flag("attention_in_shard_map");
  habits.copies_stacked_parameters = object.flag("copies_stacked_parameters");
  habits.moves_stacks_in_compute_dtype = object.flag("moves_stacks_in_compute_dtype");
  habits.defers_head_gradient = object.flag("defers_head_gradient");
  habits.ragged_dot_is_dense = object.flag("ragged_dot_is_dense");
  static constexpr std::array<std::pair<std::string_view, std::string_view>, 2> reductions{
      {{"reduce-scatter", "reduce-scatter"}, {"all-reduce", "all-reduce"}}};
  habits.reduction = value_of(reductions, object, "reduction");
  habits.source = object.text("source");
  object.finish();
  return habits;
}

HardwareProfile with_device_figures(HardwareProfile profile, StrictObject& object) {
  profile.peak_bf16 = read_figure(object, "peak_bf16", Dimension::flops_per_second);
  profile.peak_int8 = read_optional_figure(object, "peak_int8", Dimension::flops_per_second);
  profile.peak_fp8 = read_optional_figure(object, "peak_fp8", Dimension::flops_per_second);
  profile.hbm_capacity = read_figure(object, "hbm_capacity", Dimension::bytes);
  profile.hbm_bandwidth = read_figure(object, "hbm_bandwidth", Dimension::bytes_per_second);
  profile.matmul_efficiency = read_share(object, "matmul_efficiency");
  profile.attention_efficiency = read_share(object, "attention_efficiency");
  profile.hbm_efficiency = read_share(object, "hbm_efficiency");
  profile.price_per_chip_hour = read_optional_figure(object, "price_per_chip_hour", Dimension::dollars_per_hour);
  return profile;
}

HardwareProfile with_network_figures(HardwareProfile profile, StrictObject& object) {
  profile.link_bandwidth = read_figure(object, "link_bandwidth", Dimension::bytes_per_second);
  profile.link_efficiency = read_share(object, "link_efficiency");
  profile.hop_latency = read_figure(object, "hop_latency", Dimension::seconds);
  profile.collective_latency = read_figure(object, "collective_latency", Dimension::seconds);
  profile.die_to_die_bandwidth = read_optional_figure(object, "die_to_die_bandwidth", Dimension::bytes_per_second);
  profile.scale_out_bandwidth = read_figure(object, "scale_out_bandwidth", Dimension::bytes_per_second);
  profile.scale_out_efficiency = read_share(object, "scale_out_efficiency");
  profile.scale_out_latency = read_figure(object, "scale_out_latency", Dimension::seconds);
  return profile;
}

void check_die_to_die(const StrictObject& object, const HardwareProfile& profile) {
  if (profile.devices_per_chip > 2) object.fail("devices_per_chip", "1 or 2");
  if ((profile.devices_per_chip == 2) != profile.die_to_die_bandwidth.has_value())
    object.fail("die_to_die_bandwidth", "given exactly when a chip has 2 devices");
}

const EmbeddedFile* find_built_in(const std::string& name) {
  for (const auto files : {embedded_profiles(), embedded_toys()})
    for (const EmbeddedFile& file : files)
      if (file.name == name) return &file;
  return nullptr;
}

std::vector<std::string> all_names() {
  auto names = profile_names();
  const auto toys = toy_profile_names();
  names.insert(names.end(), toys.begin(), toys.end());
  return names;
}

const EmbeddedFile& built_in(const std::string& name) {
  if (const EmbeddedFile* file = find_built_in(name)) return *file;
  throw InputError(unknown_name("hardware", name, all_names()));
}

}  // namespace

std::vector<std::string> default_profile_names() { return {"tpu-v5p", "tpu-v6e", "tpu-7x", "mi355x", "h100"}; }

std::vector<std::string> profile_names() {
  auto names = default_profile_names();
  for (const EmbeddedFile& file : embedded_profiles())
    if (std::find(names.begin(), names.end(), file.name) == names.end()) names.emplace_back(file.name);
  return names;
}

std::vector<std::string> toy_profile_names() {
  std::vector<std::string> names;
  for (const EmbeddedFile& file : embedded_toys()) names.emplace_back(file.name);
  return names;
}

HardwareProfile parse_profile(std::string_view text, const std::string& file) {
  const nlohmann::json json = parse_json(text, file);
  StrictObject object(json, file);
  HardwareProfile profile;
  profile.name = object.text("name");
  profile.description = object.text("description");
  profile.fabric = read_fabric(object);
  profile.devices_per_chip = read_count(object, "devices_per_chip");
  profile.chips_per_node = read_count(object, "chips_per_node");
  profile = with_device_figures(std::move(profile), object);
  profile = with_network_figures(std::move(profile), object);
  check_die_to_die(object, profile);
  profile = with_slices(std::move(profile), object.object("slices"));
  profile.habits = read_habits(object.object("compiler"));
  object.finish();
  return profile;
}

HardwareProfile load_profile(const std::string& name_or_path) {
  const bool is_path = name_or_path.find('/') != std::string::npos || name_or_path.ends_with(".json");
  if (is_path) return parse_profile(read_file(name_or_path), name_or_path);
  const EmbeddedFile& file = built_in(name_or_path);
  return parse_profile(file.text, name_or_path + ".json");
}

std::string profile_json(const std::string& name) { return std::string(built_in(name).text); }

}  // namespace shardplan
