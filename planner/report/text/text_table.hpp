#pragma once
// Columns of text that line up and fit a width.
#include <cstddef>
#include <optional>
#include <string>
#include <vector>

namespace shardplan {

enum class Align { left, right };

struct Column {
  std::string title;
  Align align = Align::left;
  bool shrinks = false;  ///< may lose its tail ("…") when the table is too wide
};

class TextTable {
 public:
  explicit TextTable(std::vector<Column> columns) : columns_(std::move(columns)) {}

  void add(std::vector<std::string> cells) { rows_.push_back({std::move(cells), std::nullopt}); }
  /// A row whose first cells stand in their columns and whose `rest` runs across the others, wrapped.
  void add_spanning(std::vector<std::string> cells, std::string rest) {
    rows_.push_back({std::move(cells), std::move(rest)});
  }
  bool empty() const { return rows_.empty(); }

  /// Title line and rows, each behind `indent` spaces. Above `width` columns the gaps close first, then the widest
  /// columns that may shrink lose their tails; without such columns the table is wider.
  std::string print(std::size_t width, std::size_t indent = 0) const;

 private:
  struct Row {
    std::vector<std::string> cells;
    std::optional<std::string> rest;
  };
  struct Layout {
    std::vector<std::size_t> widths;
    std::size_t gap = 2;
    std::size_t total() const;
  };
  Layout fit(std::size_t width) const;
  std::string line(const std::vector<std::string>& cells, const Layout& layout) const;

  std::vector<Column> columns_;
  std::vector<Row> rows_;
};

/// The first `width` columns of `text`, the last of them "…" when something is lost. `text` has no colours.
std::string shortened(const std::string& text, std::size_t width);

}  // namespace shardplan
