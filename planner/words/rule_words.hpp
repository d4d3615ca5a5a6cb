#pragma once
#include <shardplan/mesh/sharding.hpp>
#include <string>

namespace shardplan {

/// A rule as MaxText's YAML has it: "['exp', ['expert']]".
std::string rule_in_yaml(const Rule& rule);

}  // namespace shardplan
