#pragma once
// One run in markdown, the parts that explain and plan share. Each ends with a line feed, or is empty.
#include <shardplan/evaluation.hpp>
#include <string>
#include <vector>

namespace shardplan {

std::string markdown_verdict(const Evaluation& evaluation);   ///< "fits", "does not fit: …"
std::string markdown_settings(const Evaluation& evaluation);  ///< mesh, rules, path, remat, batch in a line
std::string markdown_figures(const Evaluation& evaluation);   ///< step, throughput, memory
std::string markdown_time(const Evaluation& evaluation);
std::string markdown_memory(const Evaluation& evaluation);
std::string markdown_collectives(const Evaluation& evaluation);
std::string markdown_model_notes(const Evaluation& evaluation);  ///< what should be known of the model, in a list
std::string markdown_command(const Evaluation& evaluation);  ///< folded
std::string markdown_flags(const Evaluation& evaluation);
std::string markdown_findings(const std::vector<Finding>& findings);

}  // namespace shardplan
