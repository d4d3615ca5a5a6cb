#include <algorithm>
#include <numeric>
#include <planner/report/style.hpp>
#include <planner/report/text/text_table.hpp>
#include <planner/report/wrap.hpp>

namespace shardplan {
namespace {

constexpr std::size_t least_width = 6;  // of a column that shrinks

std::string padded(const std::string& text, std::size_t width, Align align) {
  const std::size_t used = display_width(text);
  const std::string space(width > used ? width - used : 0, ' ');
  return align == Align::left ? text + space : space + text;
}

std::string without_trailing_spaces(std::string text) {
  text.erase(text.find_last_not_of(' ') + 1);
  return text;
}

}  // namespace

std::string shortened(const std::string& text, std::size_t width) {
  if (display_width(text) <= width) return text;
  std::size_t end = 0;
  for (std::size_t columns = 0; end < text.size(); ++end)
    if ((static_cast<unsigned char>(text[end]) & 0xC0U) != 0x80U && ++columns == width) break;
  return text.substr(0, end) + "…";
}

std::size_t TextTable::Layout::total() const {
  return std::accumulate(widths.begin(), widths.end(), gap * (widths.size() - 1));
}

TextTable::Layout TextTable::fit(std::size_t width) const {
  Layout layout;
  for (const auto& column : columns_) layout.widths.push_back(display_width(column.title));
  for (const auto& row : rows_)
    for (std::size_t i = 0; i < row.cells.size(); ++i)
      layout.widths[i] = std::max(layout.widths[i], display_width(row.cells[i]));
  if (layout.total() > width) layout.gap = 1;
  while (layout.total() > width) {
    std::size_t* widest = nullptr;
    for (std::size_t i = 0; i < columns_.size(); ++i)
      if (columns_[i].shrinks && layout.widths[i] > least_width && (!widest || layout.widths[i] > *widest))
        widest = &layout.widths[i];
    if (!widest) break;
    --*widest;
  }
  return layout;
}

std::string TextTable::line(const std::vector<std::string>& cells, const Layout& layout) const {
  std::string text;
  for (std::size_t i = 0; i < cells.size(); ++i) {
    const std::string& cell = columns_[i].shrinks ? shortened(cells[i], layout.widths[i]) : cells[i];
    text += (i ? std::string(layout.gap, ' ') : "") + padded(cell, layout.widths[i], columns_[i].align);
  }
  return text;
}

std::string TextTable::print(std::size_t width, std::size_t indent) const {
  const Layout layout = fit(width - indent);
  const std::string margin(indent, ' ');
  std::vector<std::string> titles;
  for (const auto& column : columns_) titles.push_back(column.title);
  std::string text = without_trailing_spaces(margin + line(titles, layout)) + "\n";
  for (const auto& row : rows_) {
    const std::string cells = margin + line(row.cells, layout);
    text += row.rest ? wrap_text(*row.rest, cells + std::string(layout.gap, ' '), width)
                     : without_trailing_spaces(cells) + "\n";
  }
  return text;
}

}  // namespace shardplan
