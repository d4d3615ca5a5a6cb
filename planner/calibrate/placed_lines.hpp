#pragma once
// Lines and words of a text that says where it is when it fails.
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace shardplan {

class PlacedLines {
 public:
  PlacedLines(std::string_view text, std::string file) : rest_(text), file_(std::move(file)) {}

  /// Moves to the next line; false at the end. What `mpirun --tag-output` puts in front of a line, "[1,0]<stdout>:", is none
  /// of it.
  bool next();
  std::string_view line() const { return line_; }
  std::int64_t number() const { return number_; }
  const std::string& file() const { return file_; }
  /// Throws InputError "FILE:LINE: WHAT".
  [[noreturn]] void fail(const std::string& what) const;
  /// A number above 0 that a word of the line is whole; fails otherwise, naming `column`.
  double positive(std::string_view word, std::string_view column) const;

 private:
  std::string_view rest_, line_;
  std::string file_;
  std::int64_t number_ = 0;
};

/// Words between blanks.
std::vector<std::string_view> words_of(std::string_view line);
/// Cells between commas, blanks around them left out.
std::vector<std::string_view> cells_of(std::string_view line);

}  // namespace shardplan
