#pragma once
// What MaxText's own file of a model sets, configs/models/NAME.yml: it wins over a YAML file of one's own, whatever
// override_model_config says there, and over an argument without override_model_config (configs/pyconfig.py).
#include <functional>
#include <map>
#include <string>

namespace shardplan {

/// MaxText has none of `default`, base.yml's own model.
bool has_model_file(const std::string& model);
/// As an argument would say it, "[...]" for a list of several lines; null where the file doesn't set the key, or MaxText has
/// no such model.
const std::string* value_in_model_file(const std::string& model, const std::string& key);
/// All that the file sets, by key; nothing where MaxText has no such model.
std::map<std::string, std::string, std::less<>> values_in_model_file(const std::string& model);
/// normalize_embedding_logits of the model, which base.yml's default turns on: read where its head is tied.
bool scales_logits_where_tied(const std::string& model);
/// Whether any model's file sets the key.
bool is_in_model_files(const std::string& key);

}  // namespace shardplan
