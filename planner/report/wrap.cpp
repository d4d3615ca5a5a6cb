#include <algorithm>
#include <planner/report/wrap.hpp>
#include <string_view>

namespace shardplan {
namespace {

// MaxText docs, "Run MaxText": python3 -m maxtext.trainers.pre_train.train KEY=VALUE… (base.yml is read by default).
constexpr std::string_view launcher = "python3 -m maxtext.trainers.pre_train.train";

constexpr std::string_view harmless = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-+=./:,@%";

/// One word to a POSIX shell, whatever is in it.
std::string shell_word(const std::string& word) {
  if (!word.empty() && word.find_first_not_of(harmless) == std::string::npos) return word;
  std::string quoted = "'";
  for (const char letter : word) quoted += letter == '\'' ? std::string("'\\''") : std::string(1, letter);
  return quoted + "'";
}

std::vector<std::string> words_of(const std::string& text) {
  std::vector<std::string> words;
  std::size_t at = 0;
  while ((at = text.find_first_not_of(' ', at)) != std::string::npos) {
    const std::size_t end = std::min(text.find(' ', at), text.size());
    words.push_back(text.substr(at, end - at));
    at = end;
  }
  return words;
}

}  // namespace

std::string wrap_text(const std::string& text, const std::string& first, std::size_t width) {
  const std::string margin(display_width(first), ' ');
  std::string lines, line = first;
  bool fresh = true;
  for (const auto& word : words_of(text)) {
    if (!fresh && display_width(line) + 1 + display_width(word) > width) {
      lines += line + "\n";
      line = margin;
      fresh = true;
    }
    line += (fresh ? "" : " ") + word;
    fresh = false;
  }
  return lines + line + "\n";
}

namespace {

std::string command_lines(std::string_view command, const std::vector<std::pair<std::string, std::string>>& arguments,
                          std::size_t indent, std::size_t width) {
  const std::string margin(indent, ' ');
  std::string lines, line = margin + std::string(command);
  for (const auto& [key, value] : arguments) {
    const std::string word = shell_word(key + "=" + value);
    if (display_width(line) + 1 + display_width(word) + 2 > width) {
      lines += line + " \\\n";
      line = margin + " ";
    }
    line += " " + word;
  }
  return lines + line + "\n";
}

}  // namespace

std::string maxtext_command(const std::vector<std::pair<std::string, std::string>>& arguments, std::size_t indent,
                            std::size_t width) {
  return command_lines(launcher, arguments, indent, width);
}

std::string settings_lines(const std::vector<std::pair<std::string, std::string>>& arguments, std::size_t indent,
                           std::size_t width) {
  return command_lines("shardplan explain", arguments, indent, width);
}

}  // namespace shardplan
