#pragma once
// What a compiled program communicates in one step: every collective with the mesh axes, the phase and the source
// operation, and how often it runs (loops multiplied, the heaviest branch of a conditional).
#include <audit/group_axes.hpp>
#include <audit/hlo/hlo_program.hpp>
#include <shardplan/collective/collective.hpp>
#include <string>
#include <vector>

namespace shardplan {

/// One of several collectives that the compiler made one.
struct CollectivePart {
  std::string op;  ///< the source operation
  Phase phase = Phase::forward;
  std::string shape;
  Bytes bytes;
  auto operator<=>(const CollectivePart&) const = default;
};

struct ProgramCollective {
  NamedCollective collective;  ///< op: the source operation; why: which instruction, in which loop
  std::string shape;      ///< "bf16[8,1,4096,14336]"
  GroupFit fit = GroupFit::whole_axes;
  RingOf ring = RingOf::nothing;
  bool scattered = false;
  bool rematerialized = false;
  std::vector<CollectivePart> parts = {};  ///< of a combined one that names them
};

struct ProgramTraffic {
  std::string source;  ///< the file
  Mesh mesh;
  std::vector<ProgramCollective> collectives;  ///< heaviest first within a phase; equal ones are one
};

/// One execution of an instruction: kind, axes, group, bytes. `group`: axes_of its device groups.
Collective collective_of(const HloProgram& program, const HloCollective& found, const GroupAxes& group,
                         const Mesh& mesh);

/// Throws InputError when the program has other devices than `mesh`, when a loop that communicates has no known number
/// of trips, and on computations that call each other in a circle.
ProgramTraffic count_traffic(const HloProgram& program, const Mesh& mesh);

/// The mesh that the program itself names. Throws InputError when it names none, or several.
Mesh mesh_of_program(const HloProgram& program);

}  // namespace shardplan
