#pragma once
// --model-out FILE: the model of an answer as a file of MaxText, beside it.
#include <optional>
#include <planner/cli/parse_words.hpp>
#include <planner/cli/task.hpp>
#include <shardplan/model.hpp>
#include <string>

namespace shardplan {

void add_model_out_flag(CommandParser& parser, std::optional<std::string>& path);

/// `answer` with the model's file, where one was asked for. `says_where`: the answer is text for people, which says where
/// it went.
Answer with_model_file(Answer answer, const std::optional<std::string>& path, const Model& model, bool says_where);

}  // namespace shardplan
