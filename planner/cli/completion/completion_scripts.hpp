#pragma once
// Scripts that complete shardplan's command lines in a shell, made from the commands themselves.
#include <planner/cli/command_description.hpp>
#include <string>
#include <vector>

namespace shardplan {

/// For `source <(shardplan completion bash)`.
std::string bash_completion(const std::vector<CommandDescription>& commands);
/// For a file _shardplan in $fpath, or `source`.
std::string zsh_completion(const std::vector<CommandDescription>& commands);
/// For ~/.config/fish/completions/shardplan.fish.
std::string fish_completion(const std::vector<CommandDescription>& commands);

/// A word that a command line may go on with, and what for.
struct Offered {
  std::string word, summary;
};

/// "rules": the first words of all commands, each once, with the summary of the first command of that word; then "help".
std::vector<Offered> first_words(const std::vector<CommandDescription>& commands);
/// "resolve": the second words of the commands that begin with `word`; behind "help" their first words.
std::vector<Offered> second_words(const std::vector<CommandDescription>& commands, const std::string& word);

}  // namespace shardplan
