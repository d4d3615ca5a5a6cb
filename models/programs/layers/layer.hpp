#pragma once
// A decoder layer as a list of branches. Each norms the hidden state, mixes it and adds the result back:
//   x = x + norm_after(mix(norm_before(x)))
#include <functional>
#include <models/programs/block_builder.hpp>

namespace shardplan {

/// Writes one branch's operations down: [batch, sequence, embed] to the same (models/programs/mixers).
using Mixer = std::function<TensorId(BlockBuilder&, TensorId)>;

/// What joins a branch to the streams of a model with mhc_expansion_rate above 1: attention and feed-forward have
/// weights of their own for it; `none` mixes the streams as they are.
enum class HyperConnection : std::uint8_t { attention, feed_forward, none };

struct Branch {
  Mixer mix;
  HyperConnection connection = HyperConnection::none;
  std::string norm_before;  ///< empty: none
  std::string norm_after;   ///< empty: none
  std::string sum;          ///< name of the result
};

/// One kind of layer of a stack, and how many of it there are.
struct LayerKind {
  std::string name;
  std::vector<Branch> branches;
  std::int64_t count = 1;
  std::int64_t per_cycle = 1;  ///< layers of this kind in one iteration of the scan
  bool continues_cycle = false;
  bool before_pipeline = false;
  bool own_loop = false;       ///< inside that iteration (Block::own_loop)
  bool stays_on_device = false;  ///< likewise (Block::stays_on_device)
  bool scales_output = false;  ///< times a learned number
  bool batch_split = false;    ///< two half batches in turns: batch_split_layers.hpp, and no branches
  bool unscanned = false;  ///< one layer beside the scan: nothing of it is rematerialized
};

/// From the block's output on, which becomes that of the last branch.
void add_branches(BlockBuilder& b, const LayerKind& kind);

Block layer_block(const LayerKind& kind, const Model& model, const TrainConfig& config, const ProgramSizes& sizes);

}  // namespace shardplan
