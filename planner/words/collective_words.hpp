#pragma once
// Sentences about collectives, made from their ids and layouts.
#include <shardplan/bound_program.hpp>
#include <shardplan/collective/collective.hpp>
#include <shardplan/evaluation.hpp>
#include <string>
#include <vector>

namespace shardplan {

LayoutView view_of(const LaidOutProgram& program);

/// Where in the program: "layers/self_attention/query". Throws InternalError on a collective of no block of it.
std::string place_in_words(const Collective& collective, const Program& program);

/// Why it exists, one sentence: which tensor, which rule put which axis where.
std::string reason_in_words(const Collective& collective, const LayoutView& program, const Mesh& mesh);

NamedCollective in_words(const Collective& collective, const LayoutView& program, const Mesh& mesh);
std::vector<NamedCollective> in_words(const std::vector<Collective>& collectives, const LayoutView& program,
                                      const Mesh& mesh);

/// All of an evaluation.
std::vector<NamedCollective> named_collectives(const Evaluation& evaluation);

}  // namespace shardplan
