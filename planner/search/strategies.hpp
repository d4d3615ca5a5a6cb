#pragma once
// The kinds of parallelism that a plan compares with each other, whatever the place of the best of each.
#include <array>
#include <cstdint>
#include <shardplan/mesh/mesh.hpp>
#include <string>
#include <string_view>

namespace shardplan {

enum class Strategy : std::uint8_t { data_and_fsdp, tensor, context, expert, pipeline };

inline constexpr std::array strategies = {Strategy::data_and_fsdp, Strategy::tensor, Strategy::context,
                                          Strategy::expert, Strategy::pipeline};

std::string_view name_of(Strategy strategy);  ///< "tensor", "data·fsdp"
std::string meshes_of(Strategy strategy);     ///< "tensor parallelism", "data and fsdp alone"

/// Whether a mesh uses it: one of its axes is above 1; data_and_fsdp: no axis but data, fsdp and fsdp_transpose is.
bool uses(const Mesh& mesh, Strategy strategy);

}  // namespace shardplan
