#pragma once
// The JSON documents of `hardware|models|rules list|show` and of `rules resolve` (schema_version 1).
#include <shardplan/compiler/compiler.hpp>
#include <shardplan/machine/hardware.hpp>
#include <shardplan/model.hpp>
#include <shardplan/mesh/sharding.hpp>
#include <string>
#include <vector>

namespace shardplan {

/// A machine with its compiler.
struct CatalogMachine {
  HardwareProfile profile;
  Compiler compiler;
};

std::string hardware_list_json(const std::vector<CatalogMachine>& machines);
std::string hardware_json(const CatalogMachine& machine);
std::string model_list_json(const std::vector<Model>& models);
std::string model_show_json(const Model& model);
std::string rule_list_json(const std::vector<RuleSet>& sets);
std::string rules_json(const RuleSet& rules);
std::string spec_json(const PartitionSpec& spec, const Mesh& mesh);

}  // namespace shardplan
