#include <fmt/format.h>

#include <hardware/machine_of_chips.hpp>
#include <planner/what_if/changes.hpp>
#include <shardplan/error.hpp>

namespace shardplan {
namespace {

int smallest_factor(int number) {
  int factor = 2;
  while (number % factor != 0) ++factor;
  return factor;
}

bool may_grow(const MeshAxis& axis, const Configuration& c) {
  return is_searched(axis.role, c.model) && !traits_of(axis.role).splits_again;
}

/// How many times as many slices there are, and devices in each; neither is 0.
struct Growth {
  int ici_times = 1, ici_parts = 1, dcn_times = 1, dcn_parts = 1;
};

/// Empty where one is no multiple of the other.
std::optional<std::pair<int, int>> ratio(std::int64_t now, std::int64_t then) {
  if (then % now == 0) return std::pair(static_cast<int>(then / now), 1);
  if (now % then == 0) return std::pair(1, static_cast<int>(now / then));
  return std::nullopt;
}

std::optional<Growth> growth_of(const Configuration& c, const Machine& then) {
  const auto ici = ratio(c.slice.devices, then.slice.devices), dcn = ratio(c.num_slices, then.num_slices);
  if (!ici || !dcn) return std::nullopt;
  return Growth{ici->first, ici->second, dcn->first, dcn->second};
}

std::optional<Machine> machine_in(const HardwareProfile& profile, int chips, std::optional<int> slices) try {
  return machine_of(profile, chips, slices);
} catch (const InputError&) {
  return std::nullopt;  // it has no such size
}

/// One node as long as it holds the chips; more or fewer nodes with as many chips each, or a part of one. Of slices as many
/// as there are, or else as few as make the chips.
std::optional<Machine> machine_with(const Configuration& c, int chips) {
  if (ends_at_node(c.hardware.fabric)) {
    if (c.num_slices == 1 && chips <= c.hardware.chips_per_node) return machine_in(c.hardware, chips, 1);
    const int of_a_node = c.slice.chips;
    if (chips % of_a_node == 0) return machine_in(c.hardware, chips, chips / of_a_node);
    return chips < of_a_node ? machine_in(c.hardware, chips, 1) : std::nullopt;
  }
  const auto alike = machine_in(c.hardware, chips, c.num_slices);
  return alike ? alike : machine_in(c.hardware, chips, std::nullopt);
}

std::optional<Mesh> grown(Mesh mesh, std::size_t axis, const Growth& growth) {
  MeshAxis& a = mesh.axes[axis];
  if (a.ici % growth.ici_parts != 0 || a.dcn % growth.dcn_parts != 0) return std::nullopt;
  a.ici = a.ici / growth.ici_parts * growth.ici_times;
  a.dcn = a.dcn / growth.dcn_parts * growth.dcn_times;
  return mesh;
}

}  // namespace

std::vector<RunChange> moved_factors(const Configuration& configuration) {
  std::vector<RunChange> changes;
  const std::vector<MeshAxis>& axes = configuration.mesh.axes;
  for (std::size_t from = 0; from < axes.size(); ++from) {
    if (axes[from].ici == 1 || !may_grow(axes[from], configuration)) continue;
    const int factor = smallest_factor(axes[from].ici);
    for (std::size_t to = 0; to < axes.size(); ++to) {
      if (to == from || !may_grow(axes[to], configuration)) continue;
      RunChange change{WhatIfKind::axes, "", configuration};
      change.configuration.mesh.axes[from].ici /= factor;
      change.configuration.mesh.axes[to].ici *= factor;
      change.words = describe(change.configuration.mesh);
      changes.push_back(std::move(change));
    }
  }
  return changes;
}

std::vector<RunChange> on_chips(const Configuration& configuration, double factor) {
  const double chips = configuration.slice.chips * configuration.num_slices * factor;
  if (chips < 1 || chips != static_cast<int>(chips)) return {};
  const auto machine = machine_with(configuration, static_cast<int>(chips));
  const auto growth = machine ? growth_of(configuration, *machine) : std::nullopt;
  if (!growth) return {};
  std::vector<RunChange> changes;
  for (const AxisRole role : roles_with(&AxisTraits::takes_devices)) {
    const auto axis = configuration.mesh.find(role);
    const auto mesh = axis ? grown(configuration.mesh, *axis, *growth) : std::nullopt;
    if (!mesh) continue;
    RunChange change{WhatIfKind::chips, fmt::format("{} chips: {}", chips, describe(*mesh)), configuration};
    change.configuration.mesh = *mesh;
    change.configuration.slice = machine->slice;
    change.configuration.num_slices = machine->num_slices;
    changes.push_back(std::move(change));
  }
  return changes;
}

}  // namespace shardplan
