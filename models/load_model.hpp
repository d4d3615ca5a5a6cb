#pragma once
// Where a model's dims come from: a built-in configuration, a file in the same form, or a Hugging Face config.json.
#include <shardplan/model.hpp>
#include <string>
#include <vector>

namespace shardplan {

/// The built-in models, alphabetical; Model::not_modelled says which of them cannot plan yet.
std::vector<std::string> model_names();

/// A built-in model by its name or what it is called elsewhere (model_names.hpp), or the model in the file at that
/// path. The result has passed check_model. Throws InputError on an unknown name (nearest names given), or on a file
/// that can't be read, parsed or believed.
Model load_model(const std::string& name_or_path);

/// The text of a built-in configuration, as in models/configs. Throws InputError on an unknown name.
std::string model_json(const std::string& name);

}  // namespace shardplan
