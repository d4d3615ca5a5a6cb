#pragma once
// A model in the form of models/configs/*.json: what was understood of any file, ready to be edited.
#include <shardplan/model.hpp>
#include <string>

namespace shardplan {

/// The text that read_model_file turns back into `model`; fields at their default are left out. `source` is for the
/// reader of the file.
std::string print_model_file(const Model& model, const std::string& source);

}  // namespace shardplan
