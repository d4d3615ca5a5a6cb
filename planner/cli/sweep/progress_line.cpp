#include <fmt/format.h>
#include <unistd.h>

#include <cstdio>
#include <planner/cli/sweep/progress_line.hpp>

namespace shardplan {

ProgressLine::ProgressLine(std::size_t total, bool to_file)
    : total_(total), terminal_(isatty(STDERR_FILENO) == 1), lines_(to_file && !terminal_) {}

ProgressLine::~ProgressLine() {
  if (terminal_) fmt::print(stderr, "\r\033[K");
}

void ProgressLine::begin(std::size_t done, const std::string& what) const {
  if (terminal_) fmt::print(stderr, "\r\033[K{}/{} {}", done + 1, total_, what);
}

void ProgressLine::end(std::size_t done, const std::string& result) const {
  if (lines_) fmt::print(stderr, "{}/{} {}\n", done, total_, result);
}

}  // namespace shardplan
