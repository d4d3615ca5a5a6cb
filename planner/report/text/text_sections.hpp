#pragma once
// The sections that text_evaluation.hpp is put together from. Each ends with a line feed, or is empty.
#include <planner/report/style.hpp>
#include <shardplan/evaluation.hpp>
#include <string>

namespace shardplan {

/// "data+expert"; "-" for no axis.
std::string axes_text(const AxisList& axes, const Mesh& mesh);

std::string settings_section(const Evaluation& evaluation, const Style& style);  ///< mesh, rules, path, remat, batch
std::string command_section(const Evaluation& evaluation, const Style& style);
std::string model_notes_section(const Evaluation& evaluation, const Style& style);  ///< of most models nothing
std::string flags_section(const Evaluation& evaluation, const Style& style);  ///< XLA's, where any are given
std::string time_section(const Evaluation& evaluation, const Style& style);
std::string memory_section(const Evaluation& evaluation, const Style& style);

/// The `most` heaviest groups (collective_groups.hpp) and a line for the others.
std::string grouped_collectives_section(const Evaluation& evaluation, const Style& style, std::size_t most);
/// By phase: a line for each collective, and below it why it exists.
std::string all_collectives_section(const Evaluation& evaluation, const Style& style);

/// The `most` gravest findings, and how many more there are.
std::string findings_section(const Evaluation& evaluation, const Style& style, std::size_t most);

}  // namespace shardplan
