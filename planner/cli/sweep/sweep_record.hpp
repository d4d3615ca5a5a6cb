#pragma once
// What a sweep has found so far, kept in a file that is whole at any moment, so that the same command goes on where it
// was stopped.
#include <chrono>
#include <optional>
#include <planner/sweep/sweep.hpp>
#include <string>

namespace shardplan {

/// Whether a file of that name can be gone on with: not /dev/stdout, not a pipe.
bool is_kept(const std::string& file);

class SweepRecord {
 public:
  /// `answer` has no rows yet; those that `file` holds are taken from it. Without a file nothing is kept. Throws
  /// InputError on a file that holds anything else than a part of this sweep, and where none can be written.
  SweepRecord(std::optional<std::string> file, SweepAnswer answer);

  /// Whether the cell at that place is known.
  bool has(std::size_t place) const;
  /// Into its place; written at once, or with the next ones where the last write is too recent.
  void add(SweepRow row);
  const SweepAnswer& answer() const { return answer_; }
  /// Writes what has not been written.
  void save();
  /// Nothing is to be kept any more: the answer stands elsewhere.
  void remove() const;

 private:
  std::optional<std::string> file_;
  SweepAnswer answer_;
  std::chrono::steady_clock::time_point saved_;
};

}  // namespace shardplan
