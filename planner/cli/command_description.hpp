#pragma once
// What a command takes, as values: help, completions and the manual are made from the same.
#include <string>
#include <vector>

namespace shardplan {

struct FlagDescription {
  std::vector<std::string> names;  ///< "-o", "--output"; of a positional argument "KEY=VALUE"
  std::string type;                ///< "NAME|FILE[,...]"; empty of a switch
  std::string help;
  std::vector<std::string> values;  ///< where they are few and the command's own; docs of the others are elsewhere
  bool positional = false;
  bool repeats = false;  ///< may be given more than once; a positional argument takes all words that are left
};

/// A command line that runs as it stands where its files are, and what for.
struct Example {
  std::string line, what;
};

struct CommandDescription {
  std::string word;        ///< "rules"
  std::string subcommand;  ///< "resolve"; empty: the word alone is the command
  std::string synopsis;  ///< "rules resolve NAME|FILE --mesh axis=n,… AXIS…"
  std::string summary;
  std::vector<FlagDescription> flags;
  std::string footer;
  std::vector<Example> examples;
  std::string name() const { return subcommand.empty() ? word : word + " " + subcommand; }  ///< "rules resolve"
};

}  // namespace shardplan
