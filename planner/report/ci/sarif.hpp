#pragma once
// Findings as SARIF 2.1.0 (docs.oasis-open.org/sarif/sarif/v2.1.0), which code-scanning services read. A finding of a
// rule file points at its line; one of a built-in set names the set.
#include <planner/check/check_answer.hpp>
#include <string>

namespace shardplan {

std::string check_sarif(const CheckAnswer& answer);

}  // namespace shardplan
