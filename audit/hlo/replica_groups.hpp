#pragma once
// Which devices take part in a collective together, in every spelling of XLA:
//   {{0,1},{2,3}}   [2,4]<=[8]   [4,2]<=[2,4]T(1,0)   {}   mesh['data'=2,'model'=4] {'model'}
//   mesh['a'=4,'b'=2], device_ids=(0,2,…) {'a':(1)2}      and source_target_pairs={{0,1},{1,0}}
// (xla/hlo/ir/replica_group.cc, mesh_and_axis.cc).
#include <cstdint>
#include <optional>
#include <shardplan/mesh/mesh.hpp>
#include <string_view>
#include <vector>

namespace shardplan {

struct ReplicaGroups {
  std::vector<std::vector<int>> groups;
  bool pairs = false;        ///< each group is a source and its target
  std::optional<Mesh> mesh;  ///< where the text names one ("mesh['fsdp'=8] {'fsdp'}")
};

/// `devices`: of the program, all of them where the list is empty. Throws InputError (without a place) on anything
/// malformed, a device outside of the program or in two groups, and groups of unequal size.
ReplicaGroups parse_replica_groups(std::string_view text, std::int64_t devices);

/// Pairs of a device with itself, which send nothing, are left out.
ReplicaGroups parse_source_target_pairs(std::string_view text, std::int64_t devices);

}  // namespace shardplan
