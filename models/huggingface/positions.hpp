#pragma once
// Rotary positions of a Hugging Face config.json, "rope_scaling" or since transformers 5 "rope_parameters", in MaxText's
// words.
#include <formats/strict_json.hpp>
#include <shardplan/model.hpp>

namespace shardplan::huggingface {

/// `model` with Llama 3.1's longer positions, where `config` has them: in MaxText another layout of features (rope_type
/// llama3.1). Takes the key; numbers other than those that MaxText has fixed are left out by name.
Model with_llama3_positions(Model model, StrictObject& config);

/// Llama 4 turns neighbouring features always, and scales them where `config` says so (Maverick's says nothing).
Model with_llama4_positions(Model model, StrictObject& config);

/// `model` with its kind of positions among the inner values: those of the nearest MaxText model would hold else. YaRN and
/// linear scaling are carried over and their key taken, kinds that MaxText doesn't have become its default. Nothing where
/// the kind is known.
Model with_positions(Model model, StrictObject& config);

}  // namespace shardplan::huggingface
