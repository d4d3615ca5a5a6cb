#include <fmt/format.h>

#include <algorithm>
#include <audit/hlo/group_table.hpp>
#include <shardplan/error.hpp>

namespace shardplan {

std::size_t GroupTable::place_of(std::string_view key, std::string_view text) {
  const auto [place, is_new] = places_.try_emplace(fmt::format("{}={}", key, text), groups_.size());
  if (!is_new) return place->second;
  try {
    groups_.push_back(key == "replica_groups" ? parse_replica_groups(text, devices_)
                                              : parse_source_target_pairs(text, devices_));
  } catch (const InputError& error) {
    lines_.fail(error.what());
  }
  if (const auto& mesh = groups_.back().mesh) note(*mesh);
  return place->second;
}

// The partitioner makes meshes of its own, whose axes are called axis_0, axis_1, …
void GroupTable::note(const Mesh& mesh) {
  if (mesh.axes[0].name.starts_with("axis_")) return;
  if (std::find(meshes_.begin(), meshes_.end(), mesh) == meshes_.end()) meshes_.push_back(mesh);
}

}  // namespace shardplan
