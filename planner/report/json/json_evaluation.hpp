#pragma once
// The JSON document of one configuration (schema_version 1).
#include <shardplan/evaluation.hpp>
#include <shardplan/answer/what_if.hpp>
#include <string>
#include <vector>

namespace shardplan {

std::string explanation_json(const Evaluation& evaluation, const std::vector<WhatIf>& what_ifs = {});

}  // namespace shardplan
