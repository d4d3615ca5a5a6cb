#pragma once
// How many weights a model has. Folds over the program. A model whose layers shardplan does not know (Model::not_modelled)
// is an InputError, not a wrong number.
#include <cstdint>
#include <shardplan/model.hpp>
#include <shardplan/program.hpp>

namespace shardplan {

/// As MaxText's own count of its parameters: matrices, tables, scales, biases, sinks, positions, and the few that are not
/// trained; Σ elements · layers, a shared table once.
std::int64_t parameters(const Model& model);
/// Of them what one token passes through: its experts' in place of all.
std::int64_t active_parameters(const Model& model);

/// As the formulas of FLOPs count (programs/matrices.hpp): matrices and embedding tables alone, and the two latent norms of
/// MLA, as DeepSeek's 671 B counts them.
std::int64_t matrix_parameters(const Program& program);
std::int64_t matrix_parameters(const Model& model);

/// Of them what one token passes through.
std::int64_t active_matrix_parameters(const Program& program);
std::int64_t active_matrix_parameters(const Model& model);

/// About as many as it can have, by what is widest in its layers: whatever its sizes are, without its program.
double most_parameters(const Model& model);

}  // namespace shardplan
