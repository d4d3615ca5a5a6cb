#include <fmt/format.h>
#include <unistd.h>

#include <planner/cli/streams/search_progress.hpp>
#include <planner/cli/streams/standard_streams.hpp>
#include <planner/words/search_words.hpp>

namespace shardplan {
namespace {

constexpr std::chrono::milliseconds patience(1000), between(100);

}  // namespace

SearchProgressLine::SearchProgressLine() : terminal_(isatty(STDERR_FILENO) == 1), next_(Clock::now() + patience) {}

SearchProgressLine::~SearchProgressLine() {
  if (shown_) write_to_standard_error("\r\033[K");
}

void SearchProgressLine::show(const SearchProgress& progress) {
  if (!terminal_ || Clock::now() < next_) return;
  next_ = Clock::now() + between;
  shown_ = true;
  write_to_standard_error(fmt::format("\r\033[K{}", in_words(progress)));
}

}  // namespace shardplan
