#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <hardware/load_profile.hpp>
#include <hardware/machine_names.hpp>
#include <hardware/slices.hpp>
#include <numeric>
#include <optional>
#include <shardplan/collective/counted.hpp>
#include <shardplan/error.hpp>
#include <tuple>

namespace shardplan {
namespace {

int sum_of_extents(const Slice& slice) { return std::accumulate(slice.torus.begin(), slice.torus.end(), 0); }

/// Most cubic: the smallest sum of extents; ties to the first in the profile.
std::optional<Slice> listed_slice(const HardwareProfile& profile, int chips) {
  std::optional<Slice> best;
  for (const Slice& slice : profile.slices)
    if (slice.chips == chips && (!best || sum_of_extents(slice) < sum_of_extents(*best))) best = slice;
  return best;
}

/// A job of several nodes as one slice: whole nodes only.
std::optional<Slice> nodes_slice(const HardwareProfile& profile, int chips) {
  const bool whole_nodes = ends_at_node(profile.fabric) && chips > 0 && chips % profile.chips_per_node == 0;
  if (!whole_nodes) return std::nullopt;
  return Slice{fmt::format("{}-{}", profile.slice_prefix, chips), chips, chips * profile.devices_per_chip, {}, {}};
}

std::vector<int> valid_counts_near(const HardwareProfile& profile, int chips) {
  std::vector<int> counts;
  for (const Slice& slice : profile.slices) counts.push_back(slice.chips);
  const int node = profile.chips_per_node;
  if (ends_at_node(profile.fabric)) {
    if (chips >= node) counts.push_back(chips / node * node);
    counts.push_back((std::max(chips, 0) / node + 1) * node);
  }
  std::sort(counts.begin(), counts.end());
  counts.erase(std::unique(counts.begin(), counts.end()), counts.end());
  return counts;
}

/// The next counts below and above.
std::vector<int> nearest_counts(const HardwareProfile& profile, int chips) {
  const auto counts = valid_counts_near(profile, chips);
  const auto above = std::upper_bound(counts.begin(), counts.end(), chips);
  if (above == counts.begin()) return {*above};
  if (above == counts.end()) return {counts.back()};
  return {*(above - 1), *above};
}

std::optional<int> number_after(const std::string& text, const std::string& prefix) {
  if (!text.starts_with(prefix + "-")) return std::nullopt;
  const char* begin = text.data() + prefix.size() + 1;
  const char* end = text.data() + text.size();
  int number = 0;
  const auto [stop, error] = std::from_chars(begin, end, number);
  if (error != std::errc() || stop != end) return std::nullopt;
  return number;
}

/// The sizes below and above that `name`, "v5p-7", would be between; what its number counts is named, since that is not
/// chips on every machine. Empty where the name has another form.
std::string nearest_sizes(const HardwareProfile& profile, const std::string& name) {
  const auto wrong = number_after(name, profile.slice_prefix);
  if (!wrong) return "";
  if (ends_at_node(profile.fabric)) {  // any number of nodes: not all are listed
    const std::vector<int> counts = nearest_counts(profile, *wrong);
    return fmt::format("{} has no {}; nearest: {}{}", profile.name, name,
                       counts.size() > 1 ? fmt::format("{} or ", counts.front()) : "", counted(counts.back(), "chip"));
  }
  const Slice *below = nullptr, *above = nullptr;
  for (const Slice& slice : profile.slices) {
    const auto number = number_after(slice.name, profile.slice_prefix);
    if (!number) continue;
    if (*number < *wrong && (!below || slice.chips > below->chips)) below = &slice;
    if (*number > *wrong && (!above || slice.chips < above->chips)) above = &slice;
  }
  std::vector<std::string> sizes;
  for (const Slice* slice : {below, above})
    if (slice) sizes.push_back(fmt::format("{} ({})", slice->name, counted(slice->chips, "chip")));
  return fmt::format("{} has no {}; nearest: {}", profile.name, name, fmt::join(sizes, " or "));
}

}  // namespace

std::optional<Slice> find_slice(const HardwareProfile& profile, const std::string& name) {
  for (const Slice& slice : profile.slices)
    if (slice.name == name) return slice;
  const auto chips = number_after(name, profile.slice_prefix);
  return chips ? nodes_slice(profile, *chips) : std::nullopt;
}

NamedSlice slice_named(const std::string& compile_topology) {
  std::vector<std::string> valid;
  std::string sizes;
  for (const std::string& name : profile_names()) {
    const HardwareProfile profile = load_profile(name);
    if (auto slice = find_slice(profile, compile_topology)) return {name, *std::move(slice)};
    if (sizes.empty()) sizes = nearest_sizes(profile, compile_topology);
    for (const Slice& slice : profile.slices) valid.push_back(slice.name);
  }
  if (!sizes.empty()) throw InputError(sizes);
  // What --hardware takes, under another name of the machine: MaxText has one.
  if (const MachineName machine = machine_called(compile_topology); machine.slice) valid = {machine.slice->name};
  throw InputError(valid.size() == 1 ? fmt::format("unknown topology '{}'; nearest: {}", compile_topology, valid.front())
                                     : unknown_name("topology", compile_topology, valid));
}

Slice slice_called(const HardwareProfile& profile, const std::string& name) {
  if (auto slice = find_slice(profile, name)) return *std::move(slice);
  if (const std::string sizes = nearest_sizes(profile, name); !sizes.empty()) throw InputError(sizes);
  std::vector<std::string> valid;
  for (const Slice& slice : profile.slices) valid.push_back(slice.name);
  throw InputError(unknown_name("slice of " + profile.name, name, valid));
}

Slice slice_of_chips(const HardwareProfile& profile, int chips) {
  if (auto slice = listed_slice(profile, chips)) return *std::move(slice);
  if (auto slice = nodes_slice(profile, chips)) return *std::move(slice);
  const bool in_node = ends_at_node(profile.fabric) && chips > 0 && chips < profile.chips_per_node &&
                       !listed_slice(profile, profile.chips_per_node);  // parts of another machine's nodes, perhaps
  throw InputError(fmt::format("{} has no slice of {}; nearest: {}{}", profile.name, counted(chips, "chip"),
                               fmt::join(nearest_counts(profile, chips), " or "),
                               in_node ? fmt::format(" (parts of a node of {} are those of its slices)",
                                                     profile.chips_per_node)
                                       : ""));
}

}  // namespace shardplan
