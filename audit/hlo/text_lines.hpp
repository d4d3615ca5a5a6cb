#pragma once
// The lines of a text, plain or gzipped, one at a time: memory is one buffer and the longest line.
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace shardplan {

/// Fills the buffer with the next bytes of a text and says how many; 0 at its end. Throws InputError on a damaged file.
using TextSource = std::function<std::size_t(char* buffer, std::size_t size)>;

/// The bytes of a file; gzip is recognized by its content. Throws InputError when it can't be opened.
TextSource open_text(const std::string& path);

class TextLines {
 public:
  /// `name` begins every error: "dump.hlo.gz".
  TextLines(std::string name, TextSource source);

  /// Moves to the next line; false at the end.
  bool next();
  /// Without its line feed; valid until next().
  std::string_view line() const { return line_; }
  /// Of line(), from 1; after the end, of the last line.
  std::int64_t number() const { return number_; }
  const std::string& name() const { return name_; }

  /// Throws InputError "NAME:NUMBER: WHAT".
  [[noreturn]] void fail(const std::string& what) const;

 private:
  bool refill();

  std::string name_;
  TextSource source_;
  std::vector<char> buffer_;
  std::size_t begin_ = 0, end_ = 0;  ///< what of the buffer is not read yet
  std::string_view line_;
  std::int64_t number_ = 0;
};

}  // namespace shardplan
