#pragma once
// The JSON document of one configuration (schema_version 1).
#include <shardplan/evaluation.hpp>
#include <string>

namespace shardplan {

std::string explanation_json(const Evaluation& evaluation);

}  // namespace shardplan
