#pragma once
// The file of -o: written beside its place and moved there when complete, so that a reader, or a run that fails, sees
// the old file or the new one and nothing between.
#include <string>

namespace shardplan {

class OutputFile {
 public:
  /// Opens a temporary file beside `path`, so that a place where nothing can be written shows before any work is done.
  /// Throws InputError then. What is not a regular file (/dev/stdout, a pipe) is written to directly.
  explicit OutputFile(const std::string& path);
  OutputFile(const OutputFile&) = delete;
  OutputFile& operator=(const OutputFile&) = delete;
  /// Removes the temporary file, unless it was moved into place.
  ~OutputFile();

  /// Throws InputError when not all of `text` could be written; the old file stays.
  void commit(const std::string& text);

 private:
  [[noreturn]] void fail(int error) const;

  std::string path_;       ///< as the user wrote it
  std::string target_;     ///< behind symbolic links
  std::string temporary_;  ///< empty when written directly, and after the move
  int descriptor_ = -1;
};

/// Throws InputError where the answer would be written over a file that it is made from.
void check_is_no_input(const std::string& path);

/// Something stands in the file already; not so of what is no regular file.
bool is_written(const std::string& path);

}  // namespace shardplan
