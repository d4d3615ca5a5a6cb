#pragma once
// The weights of a block by what is done with them: what counting parameters and FLOPs walks over.
#include <shardplan/program.hpp>

namespace shardplan {

enum class WeightUse : std::uint8_t {
  multiplied,  ///< every token is multiplied with it
  by_experts,  ///< only a token's own experts' part of it
  looked_up,   ///< a table of which a token reads one row
  idle,        ///< nothing reads it at this length of sequence
};

struct Matrix {
  const Tensor* tensor = nullptr;
  WeightUse use = WeightUse::multiplied;
};

/// Operands of products, convolutions and lookups, each once; the norm scales inside a low-rank projection (dims
/// q_rank, kv_rank), which belong to it; and matrices that lie idle. Not: other scales, biases, sinks, learned
/// positions.
std::vector<Matrix> matrices_of(const Block& block);

/// Of an expert weight [experts, …]: the part of the experts that one token goes to.
std::int64_t elements_of_a_tokens_experts(const Tensor& weight, const Block& block);

bool has_dim(const Tensor& tensor, Dim dim);

/// For each tensor the one that it is under another constraint; itself for most.
std::vector<TensorId> roots_of(const Block& block);

}  // namespace shardplan
