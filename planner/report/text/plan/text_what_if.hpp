#pragma once
#include <planner/report/style.hpp>
#include <shardplan/answer/what_if.hpp>
#include <string>
#include <vector>

namespace shardplan {

/// What changing one thing of a run is worth, the largest gain of each kind first; "" of none.
std::string what_if_section(const std::vector<WhatIf>& what_ifs, const Style& style);

}  // namespace shardplan
