#pragma once
// What a Hugging Face config.json says beside the dims of its layers: values inside layers, under MaxText's names, and
// what a plan leaves out.
#include <formats/strict_json.hpp>
#include <shardplan/model.hpp>

namespace shardplan {

/// As a MaxText argument: a scale of 500000.0 is a whole number there.
std::string argument_text(const nlohmann::json& value);

/// `model` with inner_values and left_out, from the keys that nothing has taken from `config` yet. A key that is neither
/// known here nor about tokens, initialization or the file itself is left out by name.
Model with_notes(Model model, StrictObject& config);

}  // namespace shardplan
