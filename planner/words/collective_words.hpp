#pragma once
// Sentences about collectives, made from their ids and layouts.
#include <shardplan/bound_program.hpp>
#include <shardplan/collective/collective.hpp>
#include <shardplan/evaluation.hpp>
#include <string>
#include <vector>

namespace shardplan {

LayoutView view_of(const LaidOutProgram& program);

/// Where in the program: block, module, and what in the module; without an operation the module is it.
struct Place {
  std::string block, module, operation;  ///< "layers", "MoeBlock_0", "routing/expert_ids"
};

/// Throws InternalError on a collective of no block of the program.
Place place_of(const Collective& collective, const Program& program);
std::string place_in_words(const Collective& collective, const Program& program);  ///< "layers/self_attention/query"

/// Why it exists, one sentence: which tensor, which rule put which axis where.
std::string reason_in_words(const Collective& collective, const LayoutView& program, const Mesh& mesh);

NamedCollective in_words(const Collective& collective, const LayoutView& program, const Mesh& mesh);
std::vector<NamedCollective> in_words(const std::vector<Collective>& collectives, const LayoutView& program,
                                      const Mesh& mesh);

/// All of an evaluation.
std::vector<NamedCollective> named_collectives(const Evaluation& evaluation);

}  // namespace shardplan
