#pragma once
// What each finding means, whatever configuration has it: the text behind an id in docs/check.md and docs/audit.md, for
// readers of reports who have never seen the id.
#include <shardplan/finding.hpp>
#include <string_view>

namespace shardplan {

struct FindingWords {
  std::string_view what;  ///< what happens
  std::string_view fix;   ///< what helps; empty where that depends on the finding
};

FindingWords words_of(FindingId id);

/// The settings that make MaxText build Linen modules.
inline constexpr std::string_view linen_words = "enable_nnx=False pure_nnx=False pure_nnx_decoder=False";

}  // namespace shardplan
