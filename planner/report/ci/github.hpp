#pragma once
// Findings as GitHub workflow commands, one line each, which the Actions runner shows beside the changed lines:
//   ::error file=rules.yml,line=48,title=expert-axis-stolen::expert double-mapping: …
// (docs.github.com/actions/reference/workflow-commands-for-github-actions).
#include <planner/check/check_answer.hpp>
#include <string>
#include <string_view>

namespace shardplan {

/// Of the findings that count.
std::string check_annotations(const CheckAnswer& answer);

/// What a workflow command's data, or one of its properties, must write otherwise.
std::string escaped_data(std::string_view text);
std::string escaped_property(std::string_view text);

}  // namespace shardplan
