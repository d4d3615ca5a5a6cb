#pragma once
// How far a search is, on standard error: one line, written over, on a terminal that has waited for a second.
#include <chrono>
#include <shardplan/plan.hpp>

namespace shardplan {

class SearchProgressLine {
 public:
  SearchProgressLine();
  SearchProgressLine(const SearchProgressLine&) = delete;
  SearchProgressLine& operator=(const SearchProgressLine&) = delete;
  /// Clears the line.
  ~SearchProgressLine();

  void show(const SearchProgress& progress);

 private:
  using Clock = std::chrono::steady_clock;
  bool terminal_, shown_ = false;
  Clock::time_point next_;
};

}  // namespace shardplan
