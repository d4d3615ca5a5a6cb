#include <fmt/format.h>

#include <algorithm>
#include <hardware/machine_of_chips.hpp>
#include <hardware/slices.hpp>
#include <set>
#include <shardplan/collective/counted.hpp>
#include <shardplan/error.hpp>
#include <shardplan/rounding.hpp>

namespace shardplan {
namespace {

bool has_slice(const HardwareProfile& profile, int chips) {
  return std::any_of(profile.slices.begin(), profile.slices.end(),
                     [&](const Slice& slice) { return slice.chips == chips; });
}

/// Empty where no number of equal slices makes it. Several slices of one chip each have no link but the data-center
/// network: they are made only where they are asked for.
std::optional<int> fewest_slices(const HardwareProfile& profile, int chips) {
  std::optional<int> fewest;
  for (const Slice& slice : profile.slices) {
    if (chips % slice.chips != 0 || (slice.chips == 1 && chips > 1)) continue;
    const int slices = chips / slice.chips;
    if (!fewest || slices < *fewest) fewest = slices;
  }
  return fewest;
}

std::optional<int> nearest(const HardwareProfile& profile, int chips, int step) {
  const int largest = profile.slices.back().chips;
  for (int count = chips + step, tried = 0; count > 0 && tried <= largest; count += step, ++tried)
    if (fewest_slices(profile, count)) return count;
  return std::nullopt;
}

/// "4 (1 slice) or 12 (3 slices)".
std::string nearest_with_slices(const HardwareProfile& profile, int chips) {
  std::string text;
  for (const int step : {-1, 1}) {
    const auto count = nearest(profile, chips, step);
    if (!count) continue;
    text += fmt::format("{}{} ({})", text.empty() ? "" : " or ", *count, counted(*fewest_slices(profile, *count), "slice"));
  }
  return text;
}

/// "16 (1 slice of 16 or 2 of 8)": the counts of slices that make `chips`, fewest first.
std::string ways_to_make(const HardwareProfile& profile, int chips) {
  std::set<int> counts;
  for (const Slice& slice : profile.slices)
    if (chips % slice.chips == 0) counts.insert(chips / slice.chips);
  std::string text;
  for (const int slices : counts)
    text += fmt::format("{}{} of {}", text.empty() ? "" : ", ", counted(slices, "slice"), chips / slices);
  return text;
}

Machine in_slices(const HardwareProfile& profile, int chips, std::optional<int> asked) {
  const auto slices = asked ? asked : fewest_slices(profile, chips);
  if (!slices)
    throw InputError(fmt::format("{} has no slices that make {}; nearest: {}", profile.name, counted(chips, "chip"),
                                 nearest_with_slices(profile, chips)));
  if (chips % *slices != 0 || !has_slice(profile, chips / *slices)) {
    const std::string ways = ways_to_make(profile, chips);
    throw InputError(fmt::format("{} has no {} that make {}; {}", profile.name, counted(*slices, "slice"),
                                 counted(chips, "chip"),
                                 ways.empty() ? "nearest: " + nearest_with_slices(profile, chips) : "possible: " + ways));
  }
  return {profile, slice_of_chips(profile, chips / *slices), *slices};
}

Machine in_nodes(const HardwareProfile& profile, int chips, std::optional<int> slices) {
  const int node = profile.chips_per_node;
  if (slices && chips % *slices != 0)
    throw InputError(fmt::format("{} can't be split into {} equal parts", counted(chips, "chip"), *slices));
  if (slices && chips / *slices > node)
    throw InputError(fmt::format("{} has {} a node: {} don't fit in {}; in {} they do", profile.name, counted(node, "chip"),
                                 counted(chips, "chip"), counted(*slices, "node"), divided_up(chips, node)));
  if (slices) return {profile, slice_of_chips(profile, chips / *slices), *slices};
  if (chips <= node) return {profile, slice_of_chips(profile, chips), 1};
  slice_of_chips(profile, chips);  // throws unless the nodes are whole
  return {profile, slice_of_chips(profile, node), chips / node};
}

}  // namespace

Machine machine_of(const HardwareProfile& profile, int chips, std::optional<int> slices) {
  if (chips < 1) throw InputError(fmt::format("--chips {}: expected at least 1", chips));
  if (slices && *slices < 1) throw InputError(fmt::format("--slices {}: expected at least 1", *slices));
  return ends_at_node(profile.fabric) ? in_nodes(profile, chips, slices) : in_slices(profile, chips, slices);
}

}  // namespace shardplan
