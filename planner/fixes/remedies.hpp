#pragma once
// The configurations that a finding's fixes lead to, so that they can be costed too.
#include <shardplan/configuration.hpp>
#include <shardplan/evaluation.hpp>
#include <string>
#include <vector>

namespace shardplan {

struct Fix {
  std::string words;  ///< what to change
  Configuration configuration;
};

/// Whether there are changes for such a finding that can be costed, of this configuration or another.
bool has_remedy(FindingId finding);

/// The plainest first; none when no change of settings or rules alone helps.
std::vector<Fix> fixes_of(const Finding& finding, const Configuration& configuration);

}  // namespace shardplan
