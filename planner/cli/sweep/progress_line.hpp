#pragma once
// How far a long command is, on standard error: one line that is written over on a terminal, a line a step elsewhere.
#include <chrono>
#include <cstddef>
#include <string>

namespace shardplan {

class ProgressLine {
 public:
  /// `known` of the `total` steps were done before. Says nothing unless standard error is a terminal, or the answer goes to
  /// a file.
  ProgressLine(std::size_t known, std::size_t total, bool to_file);
  ProgressLine(const ProgressLine&) = delete;
  ProgressLine& operator=(const ProgressLine&) = delete;
  /// Clears the line.
  ~ProgressLine();

  /// Before a step, on terminals alone: "12/36, 40 s left: llama3-70b on 64 chips of h100"; steps may run beside each other.
  void begin(const std::string& what);
  /// After it, elsewhere.
  void end(const std::string& result);

 private:
  using Clock = std::chrono::steady_clock;
  std::string time_left() const;

  std::size_t known_, total_;
  std::size_t begun_ = 0, done_ = 0;  ///< since
  Clock::time_point start_ = Clock::now();
  bool terminal_, lines_;
};

}  // namespace shardplan
