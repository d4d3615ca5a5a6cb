#pragma once
// Long lines, broken at words.
#include <planner/report/style.hpp>
#include <string>
#include <utility>
#include <vector>

namespace shardplan {

/// `text` in lines of at most `width` columns: the first behind `first`, the others behind as many spaces.
std::string wrap_text(const std::string& text, const std::string& first, std::size_t width);

/// The command that starts the run, ready to paste into a shell:
/// "python3 -m maxtext.trainers.pre_train.train model_name=llama2-7b …", broken by backslashes.
std::string maxtext_command(const std::vector<std::pair<std::string, std::string>>& arguments, std::size_t indent,
                            std::size_t width);

/// The same words without the command, for `shardplan explain`.
std::string settings_lines(const std::vector<std::pair<std::string, std::string>>& arguments, std::size_t indent,
                           std::size_t width);

}  // namespace shardplan
