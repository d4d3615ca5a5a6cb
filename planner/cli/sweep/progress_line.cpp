#include <fmt/format.h>
#include <unistd.h>

#include <planner/cli/streams/standard_streams.hpp>
#include <planner/cli/sweep/progress_line.hpp>

namespace shardplan {

ProgressLine::ProgressLine(std::size_t known, std::size_t total, bool to_file)
    : known_(known), total_(total), terminal_(isatty(STDERR_FILENO) == 1), lines_(to_file && !terminal_) {}

ProgressLine::~ProgressLine() {
  if (terminal_) write_to_standard_error("\r\033[K");
}

/// ", 40 s left" or ", 12 min left" if the others take what those so far took; nothing before one is done.
std::string ProgressLine::time_left() const {
  if (done_ == 0) return "";
  const std::chrono::duration<double> taken = Clock::now() - start_;
  const double seconds = taken.count() / static_cast<double>(done_) * static_cast<double>(total_ - known_ - done_);
  return seconds < 90 ? fmt::format(", {:.0f} s left", seconds) : fmt::format(", {:.0f} min left", seconds / 60);
}

void ProgressLine::begin(const std::string& what) {
  ++begun_;
  if (!terminal_) return;
  write_to_standard_error(fmt::format("\r\033[K{}/{}{}: {}", known_ + begun_, total_, time_left(), what));
}

void ProgressLine::end(const std::string& result) {
  ++done_;
  if (lines_) write_to_standard_error(fmt::format("{}/{} {}\n", known_ + done_, total_, result));
}

}  // namespace shardplan
