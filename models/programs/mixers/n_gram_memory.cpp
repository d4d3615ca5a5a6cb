// N-gram memory (MaxText layers/engram.py): tables of what the n-grams that end with each token mean, looked up by
// their hashes, several heads for each order of n-grams; every stream gates what is found by how well it fits, and a
// short causal convolution smooths it.
#include <models/programs/mixers/mixers.hpp>
#include <set>

namespace shardplan {
namespace {

bool is_prime(std::int64_t number) {
  if (number < 2) return false;
  for (std::int64_t divisor = 2; divisor * divisor <= number; ++divisor)
    if (number % divisor == 0) return false;
  return true;
}

/// The next prime that no head has yet.
std::int64_t next_rows(std::int64_t rows, std::set<std::int64_t>& taken) {
  do ++rows;
  while (taken.contains(rows) || !is_prime(rows));
  taken.insert(rows);
  return rows;
}

/// Rows of one layer's table: each head of each order has a prime number of its own, from the order's base on; later
/// layers go on where earlier ones have taken (NgramHashMapping: _calculate_vocab_size_across_layers). All primes from an
/// order's base to its last are taken, so that it never looks at them again.
std::int64_t rows_of_table(const Model& m, std::size_t layer) {
  std::set<std::int64_t> taken;
  std::vector<std::int64_t> last;
  for (const std::int64_t base : m.engram_vocab_bases) last.push_back(base - 1);
  std::int64_t all = 0;
  for (std::size_t i = 0; i <= layer; ++i) {
    all = 0;
    for (std::int64_t& rows : last)
      for (std::int64_t head = 0; head < m.engram_num_heads; ++head) all += rows = next_rows(rows, taken);
  }
  return all;
}

/// Which tokens count as one to the hashes: each layer's program holds a table of its own.
void add_token_classes(BlockBuilder& b) {
  b.untrained_table("engram/token_classes", {{Dim::vocab, b.model.vocab}}, DType::s32);
}

/// [batch, sequence, what all heads found]
TensorId add_lookup(BlockBuilder& b, TensorId x, std::size_t layer) {
  const Model& m = b.model;
  const TensorDim batch = b.dims(x)[0], sequence = b.dims(x)[1];
  const TensorDim heads{Dim::top_k, m.engram_num_heads * static_cast<std::int64_t>(m.engram_vocab_bases.size())};
  const TensorDim width{Dim::head_dim, m.engram_head_dim};
  add_token_classes(b);
  const TensorId hashes =
      b.side_input("n-gram hashes", {batch, sequence, heads}, {{"activation_batch", "activation_norm_length", ""}});
  b.block.tensors[hashes].dtype = DType::s32;
  b.block.tensors[hashes].differentiable = false;
  const TensorId table =
      b.weight("engram/multi_head_embedding", {{Dim::vocab, rows_of_table(m, layer)}, width}, {"vocab", "embed_vocab"});
  const TensorId rows = b.apply(OpKind::lookup, "engram/multi_head_embedding", {table, hashes},
                                b.activation("n-gram rows", {batch, sequence, heads, width},
                                             {{"activation_batch", "activation_norm_length", "", ""}}));
  b.block.operations.back().wide_rows = true;  // Embed's own default type, which MultiHeadEmbedding leaves it
  return b.apply(OpKind::add, "engram/join_heads", {rows},
                 b.activation("n-gram memory", {batch, sequence, {Dim::mlp, heads.size * width.size}}));
}

/// memory·w + bias; both are kept in the type that they are multiplied in.
TensorId project(BlockBuilder& b, TensorId memory, const std::string& name, Dims to, LogicalAxes axes) {
  const Dims all = b.dims(memory);
  Dims in{all[2]}, out{all[0], all[1]};
  for (const TensorDim& dim : to) in.push_back(dim), out.push_back(dim);
  LogicalAxes stored = axes;
  stored.insert(stored.begin(), "engram_dim");
  const TensorId w = b.weight(name, std::move(in), std::move(stored));
  b.block.tensors[w].kept_as = b.config.dtype;
  const TensorId product = b.apply(OpKind::einsum, name, {memory, w}, b.activation(name + " output", std::move(out)));
  const TensorId sum = b.add_bias_over(std::move(to), product, name + "/bias", std::move(axes));
  b.block.tensors[b.block.operations.back().inputs.back()].kept_as = b.config.dtype;
  return sum;
}

TensorId add_convolution(BlockBuilder& b, TensorId x) {
  const Dims all = b.dims(x);
  const TensorId normed = b.norm_over(2, "engram/short_conv/norm", x, {});
  const TensorId kernel =
      b.weight("engram/short_conv/conv", {{Dim::taps, b.model.engram_kernel_size}, all[2], all[3]}, {"", "", ""});
  return b.apply(OpKind::elementwise, "engram/short_conv/conv", {normed, kernel}, b.activation("smoothed memory", all));
}

}  // namespace

TensorId add_n_gram_memory(BlockBuilder& b, TensorId x, std::size_t layer) {
  const Dims all = b.dims(x);
  const TensorDim batch = all[0], sequence = all[1], streams = all[2], embed = all[3];
  const TensorId memory = add_lookup(b, x, layer);
  const TensorId key = project(b, memory, "engram/key_proj", {streams, embed}, {"mhc", "embed"});
  const TensorId key_normed = b.norm_over(2, "engram/k_norm", key, {});
  const TensorId query = b.norm_over(2, "engram/q_norm", x, {});
  const TensorId fit = b.apply(OpKind::einsum, "engram/fit", {query, key_normed},
                               b.activation("fit of memory", {batch, sequence, streams}));
  const TensorId gate =
      b.apply(OpKind::elementwise, "engram/gate", {fit}, b.activation("gate of memory", {batch, sequence, streams}));
  const TensorId value = project(b, memory, "engram/value_proj", {embed}, {"embed"});
  const TensorId gated =
      b.apply(OpKind::elementwise, "engram/gated_value", {value, gate}, b.activation("gated memory", all));
  return b.apply(OpKind::add, "engram/sum", {gated, add_convolution(b, gated)},
                 b.activation("n-gram output", all, b.carried()));
}

}  // namespace shardplan
