#pragma once
// Colours and weights for terminals; the identity where the answer goes to a file or a pipe.
#include <shardplan/evaluation.hpp>
#include <string>
#include <string_view>

namespace shardplan {

enum class Ink { plain, bold, dim, red, green, yellow, blue, magenta, cyan };

class Style {
 public:
  static Style plain() { return Style(false); }
  static Style coloured() { return Style(true); }

  std::string paint(Ink ink, std::string_view text) const;

 private:
  explicit Style(bool colours) : colours_(colours) {}
  bool colours_;
};

/// The colour of a finding.
Ink ink_of(Severity severity);

/// Columns that `text` takes on a terminal: UTF-8 characters, without escape sequences.
std::size_t display_width(std::string_view text);

}  // namespace shardplan
