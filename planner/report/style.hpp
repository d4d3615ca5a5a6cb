#pragma once
// How an answer is shown: colours and weights, which are the identity where it goes to a file or a pipe, and the width
// that its lines keep to.
#include <algorithm>
#include <shardplan/evaluation.hpp>
#include <string>
#include <string_view>

namespace shardplan {

enum class Ink { plain, bold, dim, red, green, yellow, blue, magenta, cyan };

/// Columns of text that goes to no terminal, and the bounds of what a terminal is taken for.
inline constexpr std::size_t usual_width = 110;
inline constexpr std::size_t least_width = 40;
inline constexpr std::size_t most_width = 250;

class Style {
 public:
  static Style plain(std::size_t width = usual_width) { return Style(false, width); }
  static Style coloured(std::size_t width = usual_width) { return Style(true, width); }

  std::string paint(Ink ink, std::string_view text) const;
  /// Columns that every text answer keeps to, where the words allow it; between least_width and most_width.
  std::size_t width() const { return width_; }

 private:
  Style(bool colours, std::size_t width) : colours_(colours), width_(std::clamp(width, least_width, most_width)) {}
  bool colours_;
  std::size_t width_;
};

/// The colour of a finding.
Ink ink_of(Severity severity);

/// Columns that `text` takes on a terminal: UTF-8 characters, without escape sequences.
std::size_t display_width(std::string_view text);

}  // namespace shardplan
