#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <hardware/network/graph/graph_fabric.hpp>
#include <hardware/parts/read_device_paths.hpp>
#include <hardware/parts/read_slices.hpp>
#include <numeric>
#include <shardplan/error.hpp>
#include <string_view>

namespace shardplan {
namespace {

/// How names count and which dims close into rings (MaxText accelerator_to_spec_map.py):
/// v5p-16 counts TensorCores, two a chip; v6e rings each dim of 16; v5p rings all dims or none, from 4x4x4 up.
struct TorusNaming {
  std::string prefix;
  int named_units_per_chip = 1;
  int rings_from = 4;
  bool rings_need_every_dim = true;
};

int read_positive(StrictObject& object, const std::string& key) {
  const auto value = object.integer(key);
  if (value < 1 || value > 1'000'000) object.fail(key, "a whole number from 1 up");
  return static_cast<int>(value);
}

std::vector<bool> rings_of(const std::vector<int>& torus, const TorusNaming& naming) {
  const auto long_enough = [&](int extent) { return extent >= naming.rings_from; };
  const bool every_dim = std::all_of(torus.begin(), torus.end(), long_enough);
  std::vector<bool> wraps;
  for (const int extent : torus) wraps.push_back(long_enough(extent) && (every_dim || !naming.rings_need_every_dim));
  return wraps;
}

Slice torus_slice(const std::vector<int>& torus, const TorusNaming& naming, const HardwareProfile& profile) {
  const int chips = std::accumulate(torus.begin(), torus.end(), 1, std::multiplies<>());
  return {fmt::format("{}-{}", naming.prefix, chips * naming.named_units_per_chip), chips,
          chips * profile.devices_per_chip, torus, rings_of(torus, naming)};
}

/// The first shape of a chip count has the plain name; another says its shape: "v5p-32-1x4x4".
std::string free_name(const std::string& name, const std::string& shape, const std::vector<Slice>& slices) {
  const auto same_name = [&](const Slice& other) { return other.name == name; };
  return std::any_of(slices.begin(), slices.end(), same_name) ? name + "-" + shape : name;
}

HardwareProfile with_torus_slices(HardwareProfile profile, StrictObject& object) {
  const TorusNaming naming{object.text("prefix"), read_positive(object, "named_units_per_chip"),
                           read_positive(object, "rings_from"), object.flag("rings_need_every_dim")};
  for (const std::string& shape : object.texts("shapes")) {
    const auto torus = parse_shape(shape);
    if (torus.empty() || torus.size() > 3) object.fail("shapes", "shapes of up to three dims, as in \"4x4x8\"");
    Slice slice = torus_slice(torus, naming, profile);
    slice.name = free_name(slice.name, shape, profile.slices);
    profile.slices.push_back(std::move(slice));
  }
  profile.slice_prefix = naming.prefix;
  return profile;
}

/// Parts of a whole of `most` chips, which is called `whole`.
HardwareProfile with_counted_slices(HardwareProfile profile, StrictObject& object, int most, std::string_view whole) {
  const std::string prefix = object.text("prefix");
  for (const auto& count : object.array("chips")) {
    if (!count.is_number_integer() || count.get<std::int64_t>() < 1 || count.get<std::int64_t>() > most)
      object.fail("chips", fmt::format("whole numbers from 1 to {} ({})", whole, most));
    const int chips = count.get<int>(), node = profile.chips_per_node;
    if (chips > node && chips % node != 0)
      object.fail("chips", fmt::format("whole nodes of {} from there up (chips_per_node)", node));
    profile.slices.push_back({fmt::format("{}-{}", prefix, chips), chips, chips * profile.devices_per_chip, {}, {}});
  }
  profile.slice_prefix = prefix;
  return profile;
}

HardwareProfile with_listed_slices(HardwareProfile profile, StrictObject& object) {
  switch (profile.fabric) {
    case FabricKind::torus:
      return with_torus_slices(std::move(profile), object);
    case FabricKind::switched:
    case FabricKind::full_mesh:
      return with_counted_slices(std::move(profile), object, profile.chips_per_node, "chips_per_node");
    case FabricKind::graph:
      return with_counted_slices(std::move(profile), object, profile.graph->graph().devices / profile.devices_per_chip,
                                 "the chips of the graph");
  }
  throw InternalError("unknown fabric");
}

}  // namespace

HardwareProfile with_slices(HardwareProfile profile, StrictObject object) {
  profile = with_listed_slices(std::move(profile), object);
  object.text("source");
  object.finish();
  if (profile.slices.empty()) throw InputError(fmt::format("{}: at least one slice is needed", object.where()));
  std::stable_sort(profile.slices.begin(), profile.slices.end(),
                   [](const Slice& a, const Slice& b) { return a.chips < b.chips; });
  return profile;
}

}  // namespace shardplan
