#pragma once
// The flags of `compare`: those of a search, as many meshes and settings as are to stand side by side, and the other
// side of a comparison of files.
#include <planner/cli/flags/run_flags.hpp>
#include <planner/cli/parse_words.hpp>
#include <planner/cli/plan_request.hpp>
#include <planner/compare/compare_answer.hpp>

namespace shardplan {

struct CompareFlags {
  PlanFlags search;
  Words meshes, varied;                          ///< --mesh, --vary; may be repeated
  std::optional<std::string> against, config_file;
  Words words;  ///< KEY=VALUE, or the first of two saved answers
  Words given;  ///< the flags among these that were given (CommandParser::given)
};

void add_compare_flags(CommandParser& parser, CompareFlags& flags);

/// Every --mesh with every value of --per-device-batch and every combination of the values of --vary. Throws InputError as
/// read_plan_request does.
CompareRequest read_compare_request(const CompareFlags& flags);

/// Two saved answers are compared as they are. Throws InputError on any flag but --against.
void refuse_flags_of_saved(const CompareFlags& flags, const std::string& first);

/// The flags of one run over `config_file`. Throws InputError on a flag that only a search has.
RunFlags run_flags_of(const CompareFlags& flags, const std::string& config_file);

}  // namespace shardplan
