#pragma once
// The table of decoder blocks: which there are, and the traits of each (include/shardplan/decoder_block.hpp).
#include <optional>
#include <shardplan/decoder_block.hpp>
#include <shardplan/model.hpp>
#include <string>
#include <vector>

namespace shardplan {

std::vector<std::string> decoder_block_names();

/// Those that have a trait, as &DecoderBlock::muon.
std::vector<std::string> decoder_blocks_with(bool DecoderBlock::*trait);

const DecoderBlock& decoder_block(DecoderBlockKind kind);

/// Throws InputError, beginning with `place`, on an unknown name.
const DecoderBlock& find_decoder_block(const std::string& name, const std::string& place);

/// Fields of the model that ask for what no layer of its decoder block has in MaxText, which then leaves it out without a
/// word; they are costed all the same.
std::vector<std::string_view> parts_that_no_layer_has(const Model& model);

/// Why MaxText, or shardplan, has no layers of multi-token prediction beside the model's; nothing: it has.
std::optional<std::string> no_predicting_layer(const Model& model);

}  // namespace shardplan
