#pragma once
// One configuration, costed: program → bound → partitioned → priced on the machine's links → memory and time.
#include <planner/evaluate/prepared_mesh.hpp>
#include <shardplan/configuration.hpp>
#include <shardplan/evaluation.hpp>

namespace shardplan {

/// Costs exactly this configuration. A violated constraint (constraints.hpp), a mesh that the torus can't hold or too
/// little memory is a value: Evaluation::infeasible says which and by how much; counts, memory and time are filled in
/// whenever they can be computed. Throws InputError for a model that isn't modelled.
Evaluation evaluate(const Configuration& configuration);

/// The same from its program (planner/constraints), evaluate() in two. No name in the program decides anything; names
/// are for people.
Evaluation evaluate_program(const Configuration& configuration, Program program);

/// When everything of its step runs; its collectives are those of evaluate().
StepTimeline timeline_of(const Configuration& configuration);

/// What a search needs of it, which throws most of what it costs away: nothing is put in words. `mesh` is shared by
/// configurations that differ in batch, accumulation and remat policy.
RunCost evaluate_cost(const Configuration& configuration, PreparedMesh& mesh);

/// What of that needs no time: `time` is left empty, all else is the same.
RunCost evaluate_memory(const Configuration& configuration, PreparedMesh& mesh);

/// Why MaxText doesn't start it, by its findings, whatever its memory: it looks at the weights' layout before XLA needs
/// memory, which an evaluation says first.
std::optional<Infeasible> refused_at_start(const Evaluation& run);

/// evaluate() with the configuration kept, for answers that print its arguments.
Evaluation evaluate_to_show(const Configuration& configuration);

}  // namespace shardplan
