#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>
#include <numeric>
#include <planner/report/style.hpp>
#include <planner/report/text/text_table.hpp>
#include <planner/report/wrap.hpp>
#include <string_view>

namespace shardplan {
namespace {

constexpr std::string_view break_behind = " ,/:+";
constexpr std::string_view break_long_words_behind = "_-=";
constexpr std::size_t longest_piece = 10;  // a longer word may be broken inside, best behind one of those
constexpr std::size_t shortest_piece = 8;  // likewise, where a table would be too wide otherwise
constexpr std::size_t shortest_of_all = 6;  // where nothing else is left
constexpr std::size_t longest_prose = 15;  // a word of so many letters and nothing else is broken only there

std::string padded(const std::string& text, std::size_t width, Align align) {
  const std::size_t used = display_width(text);
  const std::string space(width > used ? width - used : 0, ' ');
  return align == Align::left ? text + space : space + text;
}

std::string without_trailing_spaces(std::string text) {
  text.erase(text.find_last_not_of(' ') + 1);
  return text;
}

/// Each ends with what it is broken behind.
std::vector<std::string> split_behind(const std::string& text, std::string_view separators) {
  std::vector<std::string> pieces;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find_first_of(separators, at), text.size() - 1) + 1;
    pieces.push_back(text.substr(at, end - at));
    at = end;
  }
  return pieces;
}

/// "8.00 " before "s": a figure stays with its unit.
bool is_before_unit(const std::string& piece, const std::string& next) {
  const bool figure = piece.ends_with(' ') && piece.find_first_not_of("0123456789.") == piece.size() - 1;
  const std::string unit = without_trailing_spaces(next);
  return figure && piece.size() > 1 && !unit.empty() && unit.size() <= 3 &&
         std::all_of(unit.begin(), unit.end(), [](unsigned char c) { return std::isalpha(c) != 0; });
}

/// What stays together: "fsdp=8," "context=2"; "minimal_" "with_" "context"; "60.1 ms".
std::vector<std::string> pieces_of(const std::string& text) {
  std::vector<std::string> pieces;
  for (auto& word : split_behind(text, break_behind)) {
    if (!pieces.empty() && is_before_unit(pieces.back(), word)) {
      pieces.back() += word;
      continue;
    }
    if (display_width(word) <= longest_piece) {
      pieces.push_back(std::move(word));
      continue;
    }
    for (auto& part : split_behind(word, break_long_words_behind)) pieces.push_back(std::move(part));
  }
  return pieces;
}

/// The bytes of the first `columns` characters.
std::size_t bytes_of(const std::string& text, std::size_t columns) {
  std::size_t end = 0;
  for (std::size_t seen = 0; end < text.size(); ++end)
    if ((static_cast<unsigned char>(text[end]) & 0xC0U) != 0x80U && seen++ == columns) break;
  return end;
}

/// Of a piece that is wider: behind the last of those where one can break it, else inside.
std::size_t end_of_part(const std::string& piece, std::size_t columns) {
  const std::size_t end = bytes_of(piece, columns), separator = piece.find_last_of(break_long_words_behind, end - 1);
  return separator == std::string::npos ? end : separator + 1;
}

/// A word of a sentence, not the name of anything.
bool is_prose(const std::string& word) {
  return word.size() <= longest_prose &&
         std::all_of(word.begin(), word.end(), [](unsigned char c) { return std::isalpha(c) != 0; });
}

/// No narrower than the title and the longest piece, unless that is a long name, which may be broken where words may not.
std::size_t least_of(const Column& column, const std::vector<std::string>& texts, std::size_t longest) {
  std::size_t least = std::max(display_width(column.title), column.least);
  for (const auto& text : texts)
    for (const auto& piece : pieces_of(text)) {
      const std::string word = without_trailing_spaces(piece);
      const bool whole = longest >= longest_piece && is_prose(word);
      least = std::max(least, whole ? display_width(word) : std::min(display_width(word), longest));
    }
  return least;
}

}  // namespace

std::vector<std::string> broken(const std::string& text, std::size_t width) {
  std::vector<std::string> lines = {""};
  for (std::string piece : pieces_of(text)) {
    if (!lines.back().empty() && display_width(lines.back() + without_trailing_spaces(piece)) > width) lines.emplace_back();
    while (display_width(without_trailing_spaces(piece)) > width) {
      const std::size_t end = end_of_part(piece, width);
      lines.back() = piece.substr(0, end);
      lines.emplace_back();
      piece.erase(0, end);
    }
    lines.back() += piece;
  }
  for (auto& line : lines) line = without_trailing_spaces(std::move(line));
  return lines;
}

std::size_t TextTable::Layout::total() const {
  return std::accumulate(widths.begin(), widths.end(), gap * (widths.empty() ? 0 : widths.size() - 1));
}

std::vector<std::string> TextTable::column_texts(std::size_t column) const {
  std::vector<std::string> texts;
  for (const auto& row : rows_)
    if (column < row.cells.size()) texts.push_back(row.cells[column]);
  return texts;
}

TextTable::Layout TextTable::natural(std::vector<std::size_t> columns) const {
  Layout layout{std::move(columns), {}, 2};
  for (const std::size_t column : layout.columns) {
    std::size_t widest = display_width(columns_[column].title);
    for (const auto& text : column_texts(column)) widest = std::max(widest, display_width(text));
    layout.widths.push_back(widest);
  }
  return layout;
}

bool TextTable::breaks(std::size_t column, const Layout& layout) const {
  if (columns_[column].wraps || !layout.breaks_all) return columns_[column].wraps;
  const auto texts = column_texts(column);
  return columns_[column].align == Align::left &&
         std::none_of(texts.begin(), texts.end(), [](const auto& text) { return text.find('\x1b') != text.npos; });
}

std::size_t TextTable::least_width(std::size_t column, const Layout& layout, std::size_t longest) const {
  Column of = columns_[column];
  std::size_t least = of.least;
  if (layout.breaks_all) {
    for (const auto& piece : pieces_of(of.title)) least = std::max(least, display_width(without_trailing_spaces(piece)));
    of.title.clear();
  }
  const auto texts = column_texts(column);
  if (breaks(column, layout)) return std::max(least, least_of(of, texts, longest));
  for (const auto& text : texts) least = std::max(least, display_width(text));
  return std::max(least, display_width(of.title));
}

/// Closes the gaps, then takes from the widest wrapping columns; false where that is not enough.
bool TextTable::squeeze(Layout& layout, std::size_t width, std::size_t longest) const {
  if (layout.total() <= width) return true;
  layout.gap = 1;
  std::vector<std::size_t> least;
  for (const std::size_t column : layout.columns) least.push_back(least_width(column, layout, longest));
  while (layout.total() > width) {
    std::size_t* widest = nullptr;
    for (std::size_t i = 0; i < layout.columns.size(); ++i) {
      if (layout.widths[i] > least[i] && (!widest || layout.widths[i] > *widest)) widest = &layout.widths[i];
    }
    if (!widest) return false;
    --*widest;
  }
  return true;
}

TextTable::Layout TextTable::fit(std::size_t width) const {
  std::vector<std::size_t> columns(columns_.size());
  std::iota(columns.begin(), columns.end(), std::size_t{0});
  while (true) {
    Layout layout = natural(columns);
    if (squeeze(layout, width, longest_piece)) return layout;
    const auto least = std::max_element(columns.begin(), columns.end(), [&](std::size_t a, std::size_t b) {
      return columns_[a].dispensable < columns_[b].dispensable;
    });
    if (columns_[*least].dispensable == 0) {
      if (squeeze(layout, width, shortest_piece)) return layout;
      layout.breaks_all = true;
      if (!squeeze(layout, width, shortest_piece)) squeeze(layout, width, shortest_of_all);
      return layout;
    }
    columns.erase(least);
  }
}

std::string TextTable::lines(const std::vector<std::string>& cells, const Layout& layout, const std::string& margin,
                             bool are_titles) const {
  std::vector<std::vector<std::string>> parts;
  std::size_t height = 1;
  for (std::size_t i = 0; i < layout.columns.size(); ++i) {
    const std::size_t column = layout.columns[i];
    if (column >= cells.size()) break;
    const bool wraps = (are_titles && layout.breaks_all) || breaks(column, layout);
    parts.push_back(wraps ? broken(cells[column], layout.widths[i]) : std::vector{cells[column]});
    height = std::max(height, parts.back().size());
  }
  std::string text;
  for (std::size_t line = 0; line < height; ++line) {
    std::string row = margin;
    for (std::size_t i = 0; i < parts.size(); ++i)
      row += (i ? std::string(layout.gap, ' ') : "") + padded(line < parts[i].size() ? parts[i][line] : "",
                                                              layout.widths[i], columns_[layout.columns[i]].align);
    text += without_trailing_spaces(row) + "\n";
  }
  return text;
}

std::string TextTable::spanning(const Row& row, const Layout& layout, std::size_t width,
                                const std::string& margin) const {
  std::string first = margin;
  for (std::size_t i = 0; i < layout.columns.size() && layout.columns[i] < row.cells.size(); ++i)
    first += padded(row.cells[layout.columns[i]], layout.widths[i], columns_[layout.columns[i]].align) +
             std::string(layout.gap, ' ');
  return wrap_text(*row.rest, first, width);
}

bool TextTable::is_idle(const Row& row, const Layout& layout) const {
  return idle_ && std::all_of(layout.columns.begin(), layout.columns.end(), [&](std::size_t column) {
           return column < idle_->second || column >= row.cells.size() || row.cells[column] == idle_->first;
         });
}

std::string TextTable::left_out(const Layout& layout, std::size_t width, const std::string& margin) const {
  std::vector<std::string> titles;
  for (std::size_t i = 0; i < columns_.size(); ++i)
    if (std::find(layout.columns.begin(), layout.columns.end(), i) == layout.columns.end())
      titles.push_back(columns_[i].title);
  if (titles.empty()) return "";
  return wrap_text(fmt::format("(a wider screen also has: {})", fmt::join(titles, ", ")), margin, width);
}

std::string TextTable::print(std::size_t width, std::size_t indent) const {
  const Layout layout = fit(width - indent);
  const std::string margin(indent, ' ');
  std::vector<std::string> titles;
  for (const auto& column : columns_) titles.push_back(column.title);
  std::string text = lines(titles, layout, margin, true);
  for (const auto& row : rows_)
    if (!is_idle(row, layout)) text += row.rest ? spanning(row, layout, width, margin)
                                             : lines(row.cells, layout, margin, false);
  return text + left_out(layout, width, margin);
}

}  // namespace shardplan
