#pragma once
// What MaxText's mesh axes are for. MaxText knows an axis by its name, and so do rules; everything else asks what the
// name stands for: its role, and the traits of it that one table has (values/mesh/axis_role.cpp). A role is told from a
// name where a mesh is made, and becomes one again where text is.
#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

namespace shardplan {

struct Model;

enum class AxisRole : std::uint8_t {
  other,                   ///< a name of the rules' own, of which MaxText's code knows nothing
  diloco,                  ///< replicas that train apart
  data,                    ///< replicas of the weights; the batch is split
  stage,                   ///< of a pipeline: layers are split
  fsdp,                    ///< the batch is split, and weights are, which are gathered to be used
  fsdp_transpose,          ///< the same with another dim of the weights
  sequence,                ///< MaxText parses its size still; no mesh has it any more
  context,                 ///< the sequence is split
  context_usp_ulysses,     ///< likewise: the second factor of context_parallel_strategy=usp
  context_autoregressive,  ///< of inference
  tensor,                  ///< heads and features are split
  tensor_transpose,        ///< rules name it; no mesh has it
  tensor_sequence,         ///< what tensor splits, and between layers the sequence
  expert,                  ///< experts are split; elsewhere as the rules say
  autoregressive,          ///< of inference
};

/// Roles that split the same things.
enum class AxisFamily : std::uint8_t {
  other,
  data,
  stage,
  fsdp,     ///< fsdp, fsdp_transpose
  context,  ///< context, context_usp_ulysses
  tensor,   ///< tensor, tensor_sequence
  expert,
};

struct AxisTraits {
  AxisRole role;
  std::string_view name;
  AxisFamily family = AxisFamily::other;
  /// A plan gives it a size of its own accord. The others stay at 1 unless they are asked for: replicas of DiLoCo,
  /// inference's axes, and the second context factor, which needs context_parallel_strategy=usp. Stages need more than
  /// a size.
  bool searched = false;
  bool beside_stages = false;         ///< searched with stages, too: a limit of the search, no fact
  bool splits_again = false;          ///< the dims that another searched axis has split
  bool takes_devices = false;         ///< where more devices go: it splits batch or weights, nothing that has to divide
  bool grows_between_slices = false;  ///< it spans slices unasked: it communicates least
  /// MaxText's start-up check wants weights split over it (sharding.assert_params_sufficiently_sharded).
  bool checked_at_start = false;
};

/// AxisRole::other of a name that isn't MaxText's.
AxisRole axis_role(std::string_view name);
/// Throws InternalError for AxisRole::other, which has many names.
std::string_view name_of(AxisRole role);
std::vector<std::string> names_of(std::initializer_list<AxisRole> roles);

const AxisTraits& traits_of(AxisRole role);
inline AxisFamily family_of(AxisRole role) { return traits_of(role).family; }
/// In the order of the enumerators: roles_with(&AxisTraits::takes_devices) is data, then fsdp.
std::vector<AxisRole> roles_with(bool AxisTraits::*trait);

/// Whether a plan of this model gives it a size of its own accord. Without experts their axis would repeat what another
/// does: fsdp, context or tensor.
bool is_searched(AxisRole role, const Model& model);

/// Whether a list of names, such as a rule set's mesh axes, has the axis.
bool has_axis(const std::vector<std::string>& names, AxisRole role);

}  // namespace shardplan
