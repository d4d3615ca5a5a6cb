#include <algorithm>
#include <arguments/keys/argument_table.hpp>
#include <arguments/keys/base_default.hpp>
#include <arguments/keys/model_files.hpp>
#include <shardplan/train_config.hpp>

namespace shardplan {
namespace {

template <class Table>
std::string default_in(const Table& table, const std::string& key) {
  const auto row = std::find_if(table.begin(), table.end(), [&](const auto& one) { return one.key == key; });
  return row == table.end() ? "" : row->base_default;
}

std::string ignored_default(const std::string& key) {
  const auto& defaults = topic_of(key)->base_defaults;
  const auto found = defaults.find(key);
  return found == defaults.end() ? "" : found->second;
}

}  // namespace

std::string base_default(const std::string& key) {
  if (is_in_model_files(key)) return "";
  if (key == "remat_policy") return TrainConfig{}.remat_policy;
  switch (role_of(key)) {
    case ArgumentRole::setting:
      return default_in(setting_arguments(), key);
    case ArgumentRole::remat:
      return default_in(remat_arguments(), key);
    case ArgumentRole::unmodelled:
      return default_in(unmodelled_arguments(), key);
    case ArgumentRole::axis:  // MaxText fills these two with what is left
      return key == axis_key("ici", "fsdp") || key == axis_key("dcn", "data") ? "" : "1";
    case ArgumentRole::special:
    case ArgumentRole::model_dim:
    case ArgumentRole::architecture:
      break;
    case ArgumentRole::ignored:
      return ignored_default(key);
  }
  return "";
}

}  // namespace shardplan
