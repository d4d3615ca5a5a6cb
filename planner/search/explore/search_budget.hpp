#pragma once
// What a search may still take, and whom it tells how far it is. Looked at between candidates, by all threads; a search
// without limits never stops early, and its answer depends on nothing here.
#include <atomic>
#include <chrono>
#include <shardplan/plan.hpp>

namespace shardplan {

class SearchBudget {
 public:
  using Clock = std::chrono::steady_clock;

  /// No limits, nobody to tell.
  SearchBudget() = default;
  /// Of one machine's search: an equal share of the time that is left to it and `machines_after` others.
  SearchBudget(const SearchLimits& limits, Clock::time_point begun, std::size_t machines_after);
  SearchBudget(const SearchBudget&) = delete;
  SearchBudget& operator=(const SearchBudget&) = delete;

  /// Tells `tell`, which must outlive it and is called by all threads at once, about the search on `hardware`.
  void tell_of(std::string_view hardware, const TellProgress& tell);

  /// Whether a limit is reached. Once it is, it stays so.
  bool is_spent() const { return is_spent(end_); }
  /// The same of an earlier end of the time.
  bool is_spent(std::optional<Clock::time_point> end) const;
  /// When half of the time that is left now will be; empty without a limit.
  std::optional<Clock::time_point> half_time() const;
  bool is_for_memory() const { return over_memory_; }

  /// `done` of `of` shardings are bounded, or costed.
  void progress(std::int64_t done, std::int64_t of, bool bounded) const;

 private:
  std::optional<Clock::time_point> end_;
  std::optional<Bytes> memory_;
  std::string_view hardware_;
  const TellProgress* tell_ = nullptr;
  mutable std::atomic<bool> over_memory_ = false;
};

}  // namespace shardplan
