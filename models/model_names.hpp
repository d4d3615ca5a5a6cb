#pragma once
// Models as people call them: aliases.json has the names that models have elsewhere, and spelling doesn't count
// (shardplan/spelling.hpp).
#include <optional>
#include <string>
#include <vector>

namespace shardplan {

/// What a built-in model is called beside its name; empty for one without aliases.
std::vector<std::string> aliases_of(const std::string& model);

/// "Mixtral-8x7B", "mistralai/Mixtral-8x7B-v0.1" → "mixtral-8x7b"; empty where no built-in model is called so.
std::optional<std::string> model_called(const std::string& name);

/// Whether both are names of one model, as "Llama-3-8B" and "llama3-8b" are.
bool are_one_model(const std::string& name, const std::string& other);

}  // namespace shardplan
