#include <algorithm>
#include <iterator>
#include <shardplan/error.hpp>
#include <shardplan/mesh/axis_role.hpp>
#include <shardplan/model.hpp>

namespace shardplan {
namespace {

using Role = AxisRole;
using Family = AxisFamily;

// In the order of the enumerators.
constexpr AxisTraits axis_table[] = {
    {.role = Role::other, .name = ""},
    {.role = Role::diloco, .name = "diloco"},
    {.role = Role::data,
     .name = "data",
     .family = Family::data,
     .searched = true,
     .beside_stages = true,
     .takes_devices = true,
     .grows_between_slices = true},
    {.role = Role::stage,
     .name = "stage",
     .family = Family::stage,
     .grows_between_slices = true,
     .checked_at_start = true},
    {.role = Role::fsdp,
     .name = "fsdp",
     .family = Family::fsdp,
     .searched = true,
     .beside_stages = true,
     .takes_devices = true,
     .grows_between_slices = true,
     .checked_at_start = true},
    {.role = Role::fsdp_transpose,
     .name = "fsdp_transpose",
     .family = Family::fsdp,
     .searched = true,
     .splits_again = true,
     .checked_at_start = true},
    {.role = Role::sequence, .name = "sequence"},
    {.role = Role::context,
     .name = "context",
     .family = Family::context,
     .searched = true,
     .checked_at_start = true},
    {.role = Role::context_usp_ulysses,
     .name = "context_usp_ulysses",
     .family = Family::context,
     .checked_at_start = true},
    {.role = Role::context_autoregressive, .name = "context_autoregressive", .checked_at_start = true},
    {.role = Role::tensor,
     .name = "tensor",
     .family = Family::tensor,
     .searched = true,
     .beside_stages = true,
     .checked_at_start = true},
    {.role = Role::tensor_transpose, .name = "tensor_transpose"},
    {.role = Role::tensor_sequence,
     .name = "tensor_sequence",
     .family = Family::tensor,
     .searched = true,
     .splits_again = true,
     .checked_at_start = true},
    {.role = Role::expert,
     .name = "expert",
     .family = Family::expert,
     .searched = true,
     .beside_stages = true,
     .checked_at_start = true},
    {.role = Role::autoregressive, .name = "autoregressive"},
};

constexpr bool is_in_order() {
  for (std::size_t i = 0; i < std::size(axis_table); ++i)
    if (static_cast<std::size_t>(axis_table[i].role) != i) return false;
  return true;
}
static_assert(is_in_order());

}  // namespace

AxisRole axis_role(std::string_view name) {
  for (const AxisTraits& traits : axis_table)
    if (traits.name == name) return traits.role;
  return AxisRole::other;
}

std::string_view name_of(AxisRole role) {
  if (role == AxisRole::other) throw InternalError("AxisRole::other has no one name");
  return traits_of(role).name;
}

std::vector<std::string> names_of(std::initializer_list<AxisRole> roles) {
  std::vector<std::string> names;
  for (const AxisRole role : roles) names.emplace_back(name_of(role));
  return names;
}

const AxisTraits& traits_of(AxisRole role) { return axis_table[static_cast<std::size_t>(role)]; }

std::vector<AxisRole> roles_with(bool AxisTraits::*trait) {
  std::vector<AxisRole> roles;
  for (const AxisTraits& traits : axis_table)
    if (traits.*trait) roles.push_back(traits.role);
  return roles;
}

bool is_searched(AxisRole role, const Model& model) {
  return traits_of(role).searched && (role != AxisRole::expert || model.has_experts());
}

bool has_axis(const std::vector<std::string>& names, AxisRole role) {
  return std::find(names.begin(), names.end(), name_of(role)) != names.end();
}

}  // namespace shardplan
