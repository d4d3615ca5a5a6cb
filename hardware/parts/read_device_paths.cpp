#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <hardware/parts/read_device_paths.hpp>
#include <numeric>
#include <shardplan/error.hpp>

namespace shardplan {
namespace {

bool is_an_order(std::vector<int> positions) {
  std::sort(positions.begin(), positions.end());
  std::vector<int> expected(positions.size());
  std::iota(expected.begin(), expected.end(), 0);
  return !positions.empty() && positions == expected;
}

std::vector<int> read_positions(StrictObject& object) {
  std::vector<int> positions;
  for (const auto& position : object.array("positions"))
    positions.push_back(position.is_number_integer() ? position.get<int>() : -1);
  if (!is_an_order(positions)) object.fail("positions", "the whole numbers from 0 up, each once");
  return positions;
}

std::vector<int> read_shape(const std::string& text, const DevicePath& path, const HardwareProfile& profile,
                            const StrictObject& object) {
  const auto torus = parse_shape(text);
  const auto slice = std::find_if(profile.slices.begin(), profile.slices.end(),
                                  [&](const Slice& known) { return !torus.empty() && known.torus == torus; });
  if (slice == profile.slices.end()) object.fail("shapes", "shapes of slices, not " + text);
  if (slice->devices % static_cast<int>(path.positions.size()) != 0)
    object.fail("positions", fmt::format("an order of whole layers of {} ({} devices)", text, slice->devices));
  return torus;
}

DevicePath read_path(const nlohmann::json& value, const std::string& where, const HardwareProfile& profile) {
  StrictObject object(value, where);
  DevicePath path{{}, read_positions(object), object.flag_or("one_axis_only", false)};
  for (const auto& shape : object.texts("shapes")) path.shapes.push_back(read_shape(shape, path, profile, object));
  object.finish();
  return path;
}

}  // namespace

std::vector<int> parse_shape(std::string_view text) {
  std::vector<int> dims;
  while (true) {
    int extent = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), extent);
    if (error != std::errc() || extent < 1 || extent > 4096) return {};
    dims.push_back(extent);
    text.remove_prefix(static_cast<std::size_t>(end - text.data()));
    if (text.empty()) return dims;
    if (text.front() != 'x') return {};
    text.remove_prefix(1);
  }
}

std::vector<DevicePath> read_device_paths(StrictObject object, const HardwareProfile& profile) {
  std::vector<DevicePath> paths;
  for (const auto& value : object.array("paths"))
    paths.push_back(read_path(value, fmt::format("{}.paths[{}]", object.where(), paths.size()), profile));
  object.text("source");
  object.finish();
  return paths;
}

}  // namespace shardplan
