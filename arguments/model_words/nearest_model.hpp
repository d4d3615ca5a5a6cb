#pragma once
// A model as MaxText is told it: model_name takes only the names that MaxText has (configs/types.py, ModelName), and its
// code asks for them (layers/moe.py: "deepseek3", layers/attentions.py: "olmo3"). Any other model is the nearest of those
// with what differs as further arguments.
#include <shardplan/model.hpp>
#include <string>
#include <utility>
#include <vector>

namespace shardplan {

struct ModelWords {
  std::string name;  ///< "llama3-8b"
  /// {"base_emb_dim", "5120"}; with override_model_config where MaxText has a file of the model.
  std::vector<std::pair<std::string, std::string>> overrides;
  std::vector<ModelNote> unsaid;  ///< what no argument says: the nearest model's own holds
};

/// The built-in model with the same decoder block, the same rules of its own, and the fewest differences: first in what
/// no argument says, then in how its layers are made, in dims, in their size. A model that MaxText has is itself, with
/// what its runs are told (Model::run_arguments); base.yml's own with all that differs from it.
ModelWords words_for(const Model& model);

/// What should be known of a model that is planned: what its file says and shardplan leaves out, and what MaxText can't
/// be told.
std::vector<ModelNote> notes_of(const Model& model);

}  // namespace shardplan
