#pragma once
// What a command line asks for, once it is understood: what to compute, and where the answer goes.
#include <functional>
#include <optional>
#include <planner/report/style.hpp>
#include <string>
#include <vector>

namespace shardplan {

enum class Format { text, json, markdown, html, csv, sarif, github };

/// docs/exit-codes.md; bad input (2) and internal errors (1) are exceptions instead.
enum class Outcome { answered, nothing_feasible, regression };

/// A file beside the answer.
struct SideFile {
  std::string path, text;
};

struct Answer {
  std::string text;
  Outcome outcome = Outcome::answered;
  std::vector<SideFile> files = {};
  std::string complaint = {};  ///< there is no such answer, and why: for standard error; nothing is written
  std::string remarks = {};    ///< lines for standard error beside the answer
};

struct Task {
  std::optional<std::string> output_file;  ///< empty: standard output
  Style style = Style::plain();
  std::function<Answer(const Style& style)> compute;
};

using Words = std::vector<std::string>;

}  // namespace shardplan
