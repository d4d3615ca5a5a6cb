#pragma once
// Columns of text that line up and fit a width without losing a word.
#include <cstddef>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace shardplan {

enum class Align { left, right };

struct Column {
  std::string title;
  Align align = Align::left;
  bool wraps = false;    ///< runs on over more lines, where the table is too wide; its cells have no colours
  int dispensable = 0;   ///< above 0: may be left out of a table that is still too wide; the highest goes first
  std::size_t least = 0;  ///< of one that wraps: columns of text that are worth it
};

class TextTable {
 public:
  explicit TextTable(std::vector<Column> columns) : columns_(std::move(columns)) {}

  void add(std::vector<std::string> cells) { rows_.push_back({std::move(cells), std::nullopt}); }
  /// A row whose first cells stand in their columns and whose `rest` runs across the others, wrapped.
  void add_spanning(std::vector<std::string> cells, std::string rest) {
    rows_.push_back({std::move(cells), std::move(rest)});
  }
  /// Rows whose cells from column `first` on are `nothing`, in the columns that are shown, are left out.
  void leave_out_rows_of(std::string nothing, std::size_t first) { idle_ = {std::move(nothing), first}; }
  bool empty() const { return rows_.empty(); }

  /// Title line and rows, each behind `indent` spaces. Above `width` columns the gaps close first, then the widest
  /// columns that may wrap do, then dispensable columns go, which a last line names, then all other text wraps and titles
  /// break; figures stay whole, and a table that is still too wide is.
  std::string print(std::size_t width, std::size_t indent = 0) const;

 private:
  struct Row {
    std::vector<std::string> cells;
    std::optional<std::string> rest;
  };
  struct Layout {
    std::vector<std::size_t> columns;  ///< those that are shown
    std::vector<std::size_t> widths;   ///< of each of them
    std::size_t gap = 2;
    bool breaks_all = false;  ///< all columns of text wrap, and all titles
    std::size_t total() const;
  };
  std::vector<std::string> column_texts(std::size_t column) const;
  Layout natural(std::vector<std::size_t> columns) const;
  bool breaks(std::size_t column, const Layout& layout) const;
  std::size_t least_width(std::size_t column, const Layout& layout, std::size_t longest) const;
  bool squeeze(Layout& layout, std::size_t width, std::size_t longest) const;
  Layout fit(std::size_t width) const;
  std::string lines(const std::vector<std::string>& cells, const Layout& layout, const std::string& margin,
                    bool are_titles) const;
  std::string spanning(const Row& row, const Layout& layout, std::size_t width, const std::string& margin) const;
  bool is_idle(const Row& row, const Layout& layout) const;
  std::string left_out(const Layout& layout, std::size_t width, const std::string& margin) const;

  std::vector<Column> columns_;
  std::vector<Row> rows_;
  std::optional<std::pair<std::string, std::size_t>> idle_;
};

/// `text` in lines of at most `width` columns, broken behind spaces, commas, slashes, colons and plus signs; long words
/// also behind underscores, hyphens and equals signs, elsewhere only where they are longer than a line. No colours.
std::vector<std::string> broken(const std::string& text, std::size_t width);

}  // namespace shardplan
