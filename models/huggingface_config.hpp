#pragma once
// A Hugging Face config.json as a Model. Such a file holds many keys that do not shape a training step (token ids,
// rotary scales, checkpoint quantization): those are passed over. What would change the layers is read, or rejected by
// name.
#include <nlohmann/json_fwd.hpp>
#include <shardplan/model.hpp>
#include <string>

namespace shardplan {

bool is_huggingface_config(const nlohmann::json& json);

/// Throws InputError, beginning with `place`, on an architecture that is not known here, a missing or mistyped key, or
/// a setting that MaxText's decoder block for that architecture does not have. Model::name is left empty.
Model read_huggingface_config(const nlohmann::json& json, const std::string& place);

}  // namespace shardplan
