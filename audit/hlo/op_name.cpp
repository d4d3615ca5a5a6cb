#include <algorithm>
#include <array>
#include <audit/hlo/op_name.hpp>
#include <string>
#include <vector>

namespace shardplan {
namespace {

bool contains(std::string_view text, std::string_view part) { return text.find(part) != text.npos; }

bool is_wrapper(std::string_view segment) {
  constexpr std::array<std::string_view, 10> names = {"while",       "body",
                                                      "cond",        "eval_jaxpr",
                                                      "checkpoint",  "remat",
                                                      "closed_call", "rematted_computation",
                                                      "jvp()",       "transpose(jvp())"};
  return segment.starts_with("jit(") || segment.starts_with("pjit") ||
         std::find(names.begin(), names.end(), segment) != names.end();
}

/// Cut at the slashes outside of parentheses.
std::vector<std::string_view> segments_of(std::string_view op_name) {
  std::vector<std::string_view> segments;
  int depth = 0;
  std::size_t begin = 0;
  for (std::size_t i = 0; i <= op_name.size(); ++i) {
    const char c = i < op_name.size() ? op_name[i] : '/';
    if (c == '(') ++depth;
    if (c == ')') --depth;
    if (c != '/' || (depth > 0 && i < op_name.size())) continue;
    if (i > begin) segments.push_back(op_name.substr(begin, i - begin));
    begin = i + 1;
  }
  return segments;
}

/// Where the parenthesis that ends the text begins; npos: none does.
std::size_t begin_of_last_group(std::string_view text) {
  if (!text.ends_with(')')) return text.npos;
  int depth = 0;
  for (std::size_t i = text.size(); i-- > 0;) {
    if (text[i] == ')') ++depth;
    if (text[i] == '(' && --depth == 0) return i;
  }
  return text.npos;
}

}  // namespace

std::vector<std::string> combined_names(std::string_view op_name) {
  const auto group = begin_of_last_group(op_name);
  const bool is_list = group != op_name.npos && (group == 0 || op_name[group - 1] == '/');
  if (!is_list) return {std::string(op_name)};
  const std::string_view list = op_name.substr(0, op_name.size() - 1);
  std::vector<std::string> names;
  int depth = 0;
  for (std::size_t begin = group + 1, i = begin; i <= list.size(); ++i) {
    const char c = i < list.size() ? list[i] : ':';
    if (c == '(' || c == '[') ++depth;
    if (c == ')' || c == ']') --depth;
    if (c != ':' || depth > 0) continue;
    names.push_back(std::string(list.substr(0, group)) + std::string(list.substr(begin, i - begin)));
    begin = i + 1;
  }
  return names;
}

Phase phase_of(std::string_view op_name) {
  if (contains(op_name, "rematted_computation")) return Phase::rematerialized_forward;
  if (contains(op_name, "transpose(jvp")) return Phase::backward;
  if (contains(op_name, "jvp(")) return Phase::forward;
  return Phase::optimizer;
}

std::string source_operation(std::string_view op_name) {
  std::string kept, last;
  for (const auto segment : segments_of(op_name)) {
    last = segment;
    if (is_wrapper(segment)) continue;
    if (!kept.empty()) kept += '/';
    kept += segment;
  }
  return kept.empty() ? last : kept;
}

}  // namespace shardplan
