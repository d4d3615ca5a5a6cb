#pragma once
// The sentence about an operand that an operation reads in another layout than it has: who has its axes instead.
#include <shardplan/bound_program.hpp>
#include <shardplan/collective/collective.hpp>
#include <string>

namespace shardplan {

/// "fsdp+expert"
std::string joined_axes(const AxisList& axes, const Mesh& mesh);

/// Of a collective with Cause::operand_layout.
std::string operand_reason(const Collective& collective, const LayoutView& program, const Mesh& mesh);

}  // namespace shardplan
