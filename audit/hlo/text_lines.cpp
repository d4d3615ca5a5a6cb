#include <fmt/format.h>
#include <zlib.h>

#include <algorithm>
#include <audit/hlo/text_lines.hpp>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <memory>
#include <shardplan/error.hpp>
#include <shardplan/answer/input_files.hpp>
#include <utility>

namespace shardplan {
namespace {

constexpr std::size_t first_buffer = std::size_t{1} << 20;
constexpr std::size_t most_at_once = std::size_t{1} << 15;  // of what is damaged zlib forgets what one call has decoded

/// In zlib's words, which begin with the path.
std::string reason_of(gzFile file, const std::string& path) {
  int code = 0;
  const std::string text = gzerror(file, &code);
  if (code == Z_ERRNO) return std::strerror(errno);
  const std::string named = path + ": ";
  return text.starts_with(named) ? text.substr(named.size()) : text;
}

}  // namespace

TextSource open_text(const std::string& path) {
  if (std::error_code none; std::filesystem::is_directory(path, none)) throw InputError(path + ": a directory, not a file");
  note_input_file(path);
  // zlib reads a file that is not gzipped as it is.
  const std::shared_ptr<gzFile_s> file(gzopen(path.c_str(), "rb"), [](gzFile_s* open) {
    if (open) gzclose(open);
  });
  if (!file) throw InputError(fmt::format("{}: {}", path, std::strerror(errno)));
  gzbuffer(file.get(), 1U << 17);
  return [file, path](char* buffer, std::size_t size) {
    const int count = gzread(file.get(), buffer, static_cast<unsigned>(std::min(size, most_at_once)));
    if (count > 0) return static_cast<std::size_t>(count);  // whatever comes behind it
    int code = Z_OK;
    gzerror(file.get(), &code);
    if (count < 0 || (code != Z_OK && code != Z_STREAM_END))
      throw InputError(fmt::format("{}: damaged or cut off ({})", path, reason_of(file.get(), path)));
    return static_cast<std::size_t>(count);
  };
}

TextLines::TextLines(std::string name, TextSource source)
    : name_(std::move(name)), source_(std::move(source)), buffer_(first_buffer) {}

// Keeps what is not read yet, at the front; grows only when one line fills the whole buffer.
bool TextLines::refill() {
  std::memmove(buffer_.data(), buffer_.data() + begin_, end_ - begin_);
  end_ -= begin_;
  begin_ = 0;
  if (end_ == buffer_.size()) buffer_.resize(buffer_.size() * 2);
  std::size_t count = 0;
  try {
    count = source_(buffer_.data() + end_, buffer_.size() - end_);
  } catch (const InputError& error) {
    throw InputError(fmt::format("{} after line {}", error.what(), number_));
  }
  end_ += count;
  return count > 0;
}

bool TextLines::next() {
  std::size_t searched = begin_;
  for (;;) {
    const char* found = static_cast<const char*>(std::memchr(buffer_.data() + searched, '\n', end_ - searched));
    const std::size_t pending = end_ - begin_;
    if (found) {
      line_ = {buffer_.data() + begin_, static_cast<std::size_t>(found - buffer_.data()) - begin_};
      begin_ += line_.size() + 1;
      break;
    }
    if (!refill()) {
      if (pending == 0) return false;
      line_ = {buffer_.data(), pending};
      begin_ = end_;
      break;
    }
    searched = pending;  // refill() moved the pending bytes to the front
  }
  if (line_.ends_with('\r')) line_.remove_suffix(1);
  ++number_;
  return true;
}

void TextLines::fail(const std::string& what) const {
  const std::string line = number_ > 0 ? fmt::format(":{}", number_) : "";  // an empty file has none
  throw InputError(fmt::format("{}{}: {}", name_, line, what));
}

}  // namespace shardplan
