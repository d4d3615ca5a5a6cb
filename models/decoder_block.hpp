#pragma once
// MaxText's decoder blocks (DecoderBlockType in common/common_types.py): which kinds of decoder layer there are.
#include <string>
#include <string_view>
#include <vector>

namespace shardplan {

enum class FeedForward { dense, experts };

struct DecoderBlock {
  std::string_view name;
  FeedForward feed_forward;
  bool modelled;              ///< shardplan has a layer program for it
  int locals_per_period = 0;  ///< sliding-window layers before each global one (models/*.py: …_ATTENTION_PATTERN)
  int sublayers_per_layer = 1;
};

std::vector<std::string> decoder_block_names();

/// Throws InputError, beginning with `place`, on an unknown name.
const DecoderBlock& find_decoder_block(const std::string& name, const std::string& place);

}  // namespace shardplan
