#pragma once
// Rotary positions of a Hugging Face config.json, "rope_scaling" or since transformers 5 "rope_parameters", in MaxText's words.
#include <formats/strict_json.hpp>
#include <shardplan/model.hpp>

namespace shardplan::huggingface {

/// Llama 3.1's longer positions, by themselves another layout of features in MaxText (rope_type llama3.1); takes the key.
bool has_llama3_positions(StrictObject& config);

/// `model` with its kind of positions among the inner values: those of the nearest MaxText model would hold else. YaRN is
/// carried over and its key taken, kinds that MaxText doesn't have become its default. Nothing where the kind is known.
Model with_positions(Model model, StrictObject& config);

}  // namespace shardplan::huggingface
