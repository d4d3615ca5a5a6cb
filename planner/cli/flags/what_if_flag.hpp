#pragma once
// --what-if: what single changes are worth, which JSON and HTML say anyway.
#include <planner/cli/parse_words.hpp>

namespace shardplan {

inline void add_what_if_flag(CommandParser& parser, bool& given) {
  parser.add("--what-if", given, "Print what changing one thing is worth too (json and html have it)");
}

}  // namespace shardplan
