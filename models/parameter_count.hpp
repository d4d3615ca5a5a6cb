#pragma once
// How many weights a model has, counted as model cards do: matrices and embedding tables, without norm scales, biases,
// attention sinks and learned positions. (The two latent norms of MLA are counted, as DeepSeek's 671 B counts them.)
// Folds over the program (programs/matrices.hpp). A model whose layers shardplan does not know (Model::not_modelled) is
// an InputError, not a wrong number.
#include <cstdint>
#include <shardplan/model.hpp>
#include <shardplan/program.hpp>

namespace shardplan {

/// Weights held in all: Σ elements · layers, a shared table once.
std::int64_t matrix_parameters(const Program& program);
std::int64_t matrix_parameters(const Model& model);

/// Weights that one token passes through: its experts' in place of all.
std::int64_t active_matrix_parameters(const Program& program);
std::int64_t active_matrix_parameters(const Model& model);

}  // namespace shardplan
