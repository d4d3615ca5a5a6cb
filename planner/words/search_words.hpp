#pragma once
// How far a search came, in words.
#include <shardplan/plan.hpp>
#include <string>

namespace shardplan {

/// "stopped at --time-limit: 1,203 of 14,473 shardings were not costed to the end"
std::string in_words(const Unfinished& unfinished);

/// "h100: 1,203 of 14,473 shardings bounded"
std::string in_words(const SearchProgress& progress);

}  // namespace shardplan
