#pragma once
// The configurations of `compare` side by side: title, columns and labels that its text and markdown share; no colours.
#include <planner/compare/compare_answer.hpp>
#include <planner/report/style.hpp>
#include <string>
#include <vector>

namespace shardplan {

/// "mixtral-8x7b on 8 chips of tpu-v5p: 4 configurations, fastest first"
std::string compare_title(const CompareAnswer& answer);

/// The answer with rows that are the same run under other rule sets as one, which names them all, and at most `most` rows;
/// `left` is how many more there are. Two files that are compared stay two rows.
struct ShownRows {
  CompareAnswer answer;
  std::size_t left = 0;
};
ShownRows shown_rows(const CompareAnswer& answer, std::size_t most);

/// Of the first row; where nothing runs what was asked for.
ComparedSubject subject_of(const CompareAnswer& answer);

/// The whole answer where nothing runs: why not.
std::string nothing_runs_text(const CompareAnswer& answer, const Style& style);

/// One column of the table of configurations.
struct CompareColumn {
  std::string title;
  bool is_number = false;
  std::string (*cell)(const ComparedRow& row);
  int dispensable = 0;  ///< on a narrow screen (TextTable): what the differences above the table say too goes first
};

/// Those in which the rows differ, settings last; what is the same in all is `same_in_all`.
std::vector<CompareColumn> compare_columns(const CompareAnswer& answer);
/// "rules default, remat full, 2 sequences a device"; empty where everything differs.
std::string same_in_all(const CompareAnswer& answer);

/// "expert=8, default, dropping", with the file and the varied settings where there are any.
std::string label_of(const ComparedRow& row, const CompareAnswer& answer);

/// "ep-tp on context=2 (ragged, ring): rule set ep-tp has no mesh axis 'context'"; each reason once, with all that it
/// stands against.
std::vector<std::string> refusals_of(const CompareAnswer& answer);

}  // namespace shardplan
