#pragma once
// The JSON document of `plan` (schema_version 1).
#include <shardplan/plan.hpp>
#include <string>

namespace shardplan {

std::string plan_json(const PlanAnswer& answer);

}  // namespace shardplan
