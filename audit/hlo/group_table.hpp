#pragma once
// The device groups of a program, each distinct one once, and the meshes that they name.
#include <audit/hlo/replica_groups.hpp>
#include <audit/hlo/text_lines.hpp>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

namespace shardplan {

class GroupTable {
 public:
  explicit GroupTable(const TextLines& lines) : lines_(lines) {}

  void of_devices(std::int64_t devices) { devices_ = devices; }
  /// The place of the groups that attribute `key` (replica_groups, source_target_pairs) writes as `text`. Throws
  /// InputError with the line on malformed ones.
  std::size_t place_of(std::string_view key, std::string_view text);
  const std::vector<std::vector<int>>& groups_at(std::size_t place) const { return groups_[place].groups; }

  std::vector<ReplicaGroups> take_groups() { return std::move(groups_); }
  std::vector<Mesh> take_meshes() { return std::move(meshes_); }

 private:
  void note(const Mesh& mesh);

  const TextLines& lines_;
  std::int64_t devices_ = 1;
  std::vector<ReplicaGroups> groups_;
  std::vector<Mesh> meshes_;
  std::unordered_map<std::string, std::size_t> places_;  ///< by "key=text"
};

}  // namespace shardplan
