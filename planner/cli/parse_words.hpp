#pragma once
// CLI11 with the project's manners: one InputError line, nearest names for unknown flags, numbers checked by us.
#include <CLI/CLI.hpp>
#include <functional>
#include <map>
#include <optional>
#include <planner/cli/command_description.hpp>
#include <planner/cli/flags/output_options.hpp>
#include <planner/cli/task.hpp>
#include <string>

namespace shardplan {

/// Not an error: --help or --version was given, and this is what it prints.
struct HelpRequest {
  std::string text;
  CommandDescription command = {};  ///< of one command's --help
};

std::string version_text();  ///< "shardplan 0.1.0"

/// The flags of one command; "shardplan plan" is its name. Every command has --help, --version and the output options.
class CommandParser {
 public:
  CommandParser(const std::string& summary, const std::string& name);

  /// A flag with a value ("--chips"), or a positional argument ("NAME"); empty when it is not given. `words`: all that the
  /// value can be, where those are a few words, for shells to offer.
  void add(const std::string& flag, std::optional<std::string>& value, const std::string& type, const std::string& help,
           Words words = {});
  /// A flag whose value is the next word even where that begins with dashes.
  void add_dashed(const std::string& flag, std::optional<std::string>& value, const std::string& type,
                  const std::string& help);
  /// A flag with a file that is written beside the answer, and so not where that goes.
  void add_side_file(const std::string& flag, std::optional<std::string>& path, const std::string& help);
  /// A flag that may be given more than once.
  void add_repeatable(const std::string& flag, Words& values, const std::string& type, const std::string& help);
  /// A flag without a value.
  void add(const std::string& flag, bool& given, const std::string& help);
  /// The positional arguments that are left.
  void add_words(const std::string& name, Words& words, const std::string& help);
  /// Those that are MaxText's arguments, KEY=VALUE.
  void add_settings(Words& words, const std::string& help);
  /// What says it here, where somebody gives the flag of another command.
  void say_instead(const std::string& flag, const std::string& words) { instead_.emplace(flag, words); }
  void add_footer(const std::string& text) { footer_ = text; }
  /// A line that --help and the manual show, and that tests run.
  void add_example(const std::string& line, const std::string& what) { examples_.push_back({line, what}); }
  /// The formats that the command can answer in, where they are more than text and json.
  void offer_formats(std::vector<std::string> formats);

  /// Fills in what was added. Throws HelpRequest, or InputError on anything that it doesn't know.
  void parse(const Words& words);

  /// The flags that were given, those about the output left out: "--model"; words that are no flag's as they are called.
  Words given() const;

  /// Empty: standard output, which `-o -` asks for, too.
  const std::optional<std::string>& output_file() const { return output_.file; }

  /// The task to answer with, from what was parsed. Throws InputError on a bad output option.
  Task task(std::function<Answer(Format format, const Style& style)> compute) const;

 private:
  CommandDescription describe() const;
  void check_side_files() const;

  CLI::App parser_;
  std::string footer_;
  std::vector<Example> examples_;
  std::vector<std::string> dashed_;
  std::vector<std::pair<std::string, const std::optional<std::string>*>> side_files_;
  std::map<std::string, Words> words_;          ///< by flag
  std::map<std::string, std::string> instead_;  ///< by the flag of another command
  bool takes_settings_ = false;
  OutputOptions output_;
};

}  // namespace shardplan
