#include <sys/resource.h>

#include <algorithm>
#include <planner/search/explore/search_budget.hpp>

namespace shardplan {
namespace {

/// The most that this process has had resident.
Bytes peak_memory() {
  rusage used{};
  getrusage(RUSAGE_SELF, &used);
  return {std::int64_t{used.ru_maxrss} * 1024};
}

}  // namespace

SearchBudget::SearchBudget(const SearchLimits& limits, Clock::time_point begun, std::size_t machines_after)
    : memory_(limits.memory) {
  if (!limits.time) return;
  const auto now = Clock::now();
  using Real = std::chrono::duration<double>;
  const Real left = std::max(Real(0), Real(limits.time->value) - Real(now - begun));
  end_ = now + std::chrono::duration_cast<Clock::duration>(left / static_cast<double>(machines_after + 1));
}

void SearchBudget::tell_of(std::string_view hardware, const TellProgress& tell) {
  hardware_ = hardware;
  tell_ = tell ? &tell : nullptr;
}

bool SearchBudget::is_spent(std::optional<Clock::time_point> end) const {
  if (memory_ && !over_memory_ && peak_memory() > *memory_) over_memory_ = true;
  return over_memory_ || (end && Clock::now() >= *end);
}

std::optional<SearchBudget::Clock::time_point> SearchBudget::half_time() const {
  if (!end_) return std::nullopt;
  const auto now = Clock::now();
  return now + (*end_ - now) / 2;
}

void SearchBudget::progress(std::int64_t done, std::int64_t of, bool bounded) const {
  if (tell_) (*tell_)({hardware_, done, of, bounded});
}

}  // namespace shardplan
