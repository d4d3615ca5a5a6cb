#pragma once
// Findings as SARIF 2.1.0 (docs.oasis-open.org/sarif/sarif/v2.1.0) in the form that GitHub code scanning takes
// (docs.github.com/code-security/code-scanning/integrating-with-code-scanning/sarif-support-for-code-scanning): every
// result has a physical location with a region and a URI relative to the repository, and a fingerprint; every rule its
// help. Findings that are ignored by name are left out, those of the baseline are "unchanged".
#include <planner/check/check_answer.hpp>
#include <string>

namespace shardplan {

/// `folder`: what paths are relative to. A finding of a file points at its line; one of a built-in set at the set's file
/// in shardplan's own sources (rules/sets/NAME.yml). A file outside of the folder is named without its path, and a
/// notification of the run says so.
std::string check_sarif(const CheckAnswer& answer, const std::string& folder);

}  // namespace shardplan
