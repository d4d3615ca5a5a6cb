#pragma once
// How far a long command is, on standard error: one line that is written over on a terminal, a line a step elsewhere.
#include <cstddef>
#include <string>

namespace shardplan {

class ProgressLine {
 public:
  /// Says nothing unless standard error is a terminal, or the answer goes to a file.
  ProgressLine(std::size_t total, bool to_file);
  ProgressLine(const ProgressLine&) = delete;
  ProgressLine& operator=(const ProgressLine&) = delete;
  /// Clears the line.
  ~ProgressLine();

  /// Before a step, on terminals alone: "12/36 llama3-70b on 64 chips of h100".
  void begin(std::size_t done, const std::string& what) const;
  /// After it, elsewhere.
  void end(std::size_t done, const std::string& result) const;

 private:
  std::size_t total_;
  bool terminal_, lines_;
};

}  // namespace shardplan
