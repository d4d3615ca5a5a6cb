#pragma once
// A program run to its end, and what it said.
#include <string>
#include <vector>

namespace shardplan {

struct ProgramRun {
  std::string output, errors;
  int exit_code = -1;
};

/// Runs `arguments` (the program first) in `directory` with an empty standard input. Nothing passes through a shell.
ProgramRun run_program(const std::vector<std::string>& arguments, const std::string& directory);

}  // namespace shardplan
