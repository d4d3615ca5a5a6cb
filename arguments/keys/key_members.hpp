#pragma once
// What code knows of a key beyond its data: the member that it is. Private to this room.
#include <arguments/keys/argument_table.hpp>
#include <string_view>

namespace shardplan {

/// Each throws InternalError on a key without a member.
SettingField setting_member(std::string_view key);
std::int64_t (*model_dim_member(std::string_view key))(const Model&);
std::string (*architecture_member(std::string_view key))(const Model&);

/// How many keys have one of either kind: as many as the data has rows.
std::size_t setting_members();
std::size_t model_dim_members();
std::size_t architecture_members();

}  // namespace shardplan
