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

/// The plainest first, of blocks of attention the fastest; none when no change of settings or rules alone helps.
std::vector<Fix> fixes_of(const Finding& finding, const Configuration& configuration);

}  // namespace shardplan
