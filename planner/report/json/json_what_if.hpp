#pragma once
// What changing one thing of a run is worth, as JSON.
#include <planner/report/json/json_values.hpp>
#include <shardplan/answer/what_if.hpp>
#include <vector>

namespace shardplan {

OrderedJson json_what_ifs(const std::vector<WhatIf>& what_ifs);

}  // namespace shardplan
