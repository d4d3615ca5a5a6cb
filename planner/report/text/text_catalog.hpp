#pragma once
// What there is to choose from: `hardware|models|rules list` and `rules resolve` on a terminal.
#include <planner/report/style.hpp>
#include <shardplan/hardware.hpp>
#include <shardplan/model.hpp>
#include <shardplan/sharding.hpp>
#include <string>
#include <vector>

namespace shardplan {

std::string hardware_list_text(const std::vector<HardwareProfile>& machines);
std::string model_list_text(const std::vector<Model>& models);
std::string rule_list_text(const std::vector<RuleSet>& sets);

/// "P(('fsdp','expert'), None)", and below it each dim with what it is split into.
std::string spec_text(const LogicalAxes& names, const PartitionSpec& spec, const Mesh& mesh);

}  // namespace shardplan
