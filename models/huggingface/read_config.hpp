#pragma once
// A Hugging Face config.json as a Model. What would change the layers is read, or rejected by name; what does not shape a
// training step (rotary scales, checkpoint quantization) goes along under MaxText's name or is said to be left out
// (notes.hpp).
#include <nlohmann/json_fwd.hpp>
#include <shardplan/model.hpp>
#include <string>

namespace shardplan {

bool is_huggingface_config(const nlohmann::json& json);

/// Throws InputError, beginning with `place`, on an architecture that is not known here, a missing or mistyped key, or
/// a setting that MaxText's decoder block for that architecture does not have. Model::name is left empty.
Model read_huggingface_config(const nlohmann::json& json, const std::string& place);

}  // namespace shardplan
