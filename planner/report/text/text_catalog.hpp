#pragma once
// What there is to choose from: `hardware|models|rules list` and `rules resolve` on a terminal.
#include <planner/report/style.hpp>
#include <shardplan/machine/hardware.hpp>
#include <shardplan/model.hpp>
#include <shardplan/mesh/sharding.hpp>
#include <string>
#include <vector>

namespace shardplan {

std::string hardware_list_text(const std::vector<HardwareProfile>& machines, const Style& style);
std::string model_list_text(const std::vector<Model>& models, const Style& style);
std::string rule_list_text(const std::vector<RuleSet>& sets, const Style& style);

/// "P(('fsdp','expert'), None)", and below it each dim with what it is split into.
std::string spec_text(const LogicalAxes& names, const PartitionSpec& spec, const Mesh& mesh, const Style& style);

}  // namespace shardplan
