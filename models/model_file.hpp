#pragma once
// Our own form of a model configuration (models/configs/*.json): the fields of Model by name, strictly. A key that is
// left out has the value of MaxText's base.yml, which is Model's default.
#include <nlohmann/json_fwd.hpp>
#include <shardplan/model.hpp>
#include <string>

namespace shardplan {

/// Throws InputError, beginning with `place`, on an unknown, missing or mistyped key.
Model read_model_file(const nlohmann::json& json, const std::string& place);

}  // namespace shardplan
