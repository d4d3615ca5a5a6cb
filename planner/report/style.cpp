#include <fmt/format.h>

#include <planner/report/style.hpp>
#include <shardplan/error.hpp>

namespace shardplan {
namespace {

// ECMA-48 "select graphic rendition" codes.
int code_of(Ink ink) {
  switch (ink) {
    case Ink::plain:
      return 0;
    case Ink::bold:
      return 1;
    case Ink::dim:
      return 2;
    case Ink::red:
      return 31;
    case Ink::green:
      return 32;
    case Ink::yellow:
      return 33;
    case Ink::blue:
      return 34;
    case Ink::magenta:
      return 35;
    case Ink::cyan:
      return 36;
  }
  throw InternalError("unknown Ink");
}

bool starts_character(char byte) { return (static_cast<unsigned char>(byte) & 0xC0U) != 0x80U; }

}  // namespace

Ink ink_of(Severity severity) {
  switch (severity) {
    case Severity::note:
      return Ink::cyan;
    case Severity::warning:
      return Ink::yellow;
    case Severity::error:
      return Ink::red;
  }
  throw InternalError("unknown Severity");
}

std::string Style::paint(Ink ink, std::string_view text) const {
  if (!colours_ || ink == Ink::plain || text.empty()) return std::string(text);
  return fmt::format("\x1b[{}m{}\x1b[0m", code_of(ink), text);
}

std::size_t display_width(std::string_view text) {
  std::size_t width = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '\x1b')
      while (i + 1 < text.size() && text[i] != 'm') ++i;
    else if (starts_character(text[i]))
      ++width;
  }
  return width;
}

}  // namespace shardplan
