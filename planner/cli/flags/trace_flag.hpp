#pragma once
// --trace FILE: what runs when, beside the answer.
#include <optional>
#include <planner/cli/parse_words.hpp>
#include <planner/cli/task.hpp>
#include <planner/report/trace/trace.hpp>
#include <string>

namespace shardplan {

void add_trace_flag(CommandParser& parser, std::optional<std::string>& path);

/// `answer` with the file, one process after the other.
Answer with_trace(Answer answer, const std::string& path, const std::vector<TraceProcess>& processes);

}  // namespace shardplan
