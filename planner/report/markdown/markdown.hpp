#pragma once
// The pieces of GitHub's markdown. Text is taken as text: what markdown would read as markup is escaped.
#include <string>
#include <string_view>
#include <vector>

namespace shardplan {

/// Of a line or a table's cell: | < > * _ ` \ are plain characters in it, line feeds are spaces.
std::string markdown_text(std::string_view text);

/// `text` as code in a line or a cell.
std::string markdown_code(std::string_view text);

/// A fenced block; `language` may be empty. The fence is longer than any in the text.
std::string markdown_block(std::string_view text, std::string_view language);

/// Folded behind its summary.
std::string markdown_details(std::string_view summary, std::string_view content);

struct MarkdownColumn {
  std::string title;
  bool is_number = false;  ///< to the right
};

/// What a sign in the cells of the table above means, as a line of its own; nothing without words.
std::string markdown_legend(std::string_view sign, std::string_view words);

/// Cells are markdown already; a row has one for each column. Nothing without rows.
std::string markdown_table(const std::vector<MarkdownColumn>& columns, const std::vector<std::vector<std::string>>& rows);

}  // namespace shardplan
