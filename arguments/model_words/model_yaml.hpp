#pragma once
// A model as one of MaxText's configs/models/*.yml.
#include <shardplan/model.hpp>
#include <string>

namespace shardplan {

/// What the model's layers and dims are, under MaxText's keys. A comment says where MaxText looks for such a file
/// (configs/pyconfig.py): models/NAME.yml beside the YAML file that train is given, where NAME is one that it knows.
std::string model_yaml(const Model& model);

}  // namespace shardplan
