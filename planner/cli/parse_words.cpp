#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <arguments/keys/argument_table.hpp>
#include <filesystem>
#include <planner/cli/help.hpp>
#include <planner/cli/parse_words.hpp>
#include <set>
#include <shardplan/error.hpp>
#include <shardplan/spelling.hpp>

namespace shardplan {
namespace {

std::vector<std::string> flags_of(const CLI::App& parser) {
  std::vector<std::string> flags;
  for (const auto* option : parser.get_options())
    for (const auto& name : option->get_lnames()) flags.push_back("--" + name);
  return flags;
}

/// The argument of MaxText that somebody gives as a flag: "--ici-fsdp-parallelism"; "" where it is none.
std::string argument_named(std::string flag) {
  flag.erase(0, flag.find_first_not_of('-'));
  std::replace(flag.begin(), flag.end(), '-', '_');
  const auto& names = argument_names();
  return std::find(names.begin(), names.end(), flag) == names.end() ? "" : flag;
}

/// `instead`: what says it here, by the flag of another command.
[[noreturn]] void refuse(const std::string& word, const CLI::App& parser,
                         const std::map<std::string, std::string>& instead, bool takes_settings) {
  if (!word.starts_with("-")) throw InputError(fmt::format("unexpected '{}'; see {} --help", word, parser.get_name()));
  const std::string flag = word.substr(0, word.find('='));
  if (const auto known = instead.find(flag); known != instead.end())
    throw InputError(fmt::format("unknown flag '{}': {} takes {}", flag, parser.get_name(), known->second));
  if (const std::string key = takes_settings ? argument_named(flag) : ""; !key.empty())
    throw InputError(fmt::format("unknown flag '{}': {} takes MaxText's arguments as they are: {}=VALUE", flag,
                                 parser.get_name(), key));
  throw InputError(unknown_name("flag", flag, flags_of(parser)));
}

bool is_one_place(const std::string& path, const std::string& other) {
  std::error_code error;
  const auto place = [&](const std::string& file) {
    return std::filesystem::weakly_canonical(std::filesystem::absolute(file, error), error);
  };
  return place(path) == place(other);
}

/// /dev/stdout, or the file that the shell sends it to. What takes all and keeps nothing, like /dev/null, mixes nothing.
bool is_standard_output(const std::string& path) {
  struct stat file {}, output {};
  if (path == "-") return true;
  if (stat(path.c_str(), &file) != 0 || fstat(STDOUT_FILENO, &output) != 0) return false;
  const bool keeps_nothing = S_ISCHR(output.st_mode) && isatty(STDOUT_FILENO) == 0;
  return !keeps_nothing && file.st_dev == output.st_dev && file.st_ino == output.st_ino;
}

// Two outputs in one place would be half of each, or the later one alone.
void check_side_file(const std::string& flag, const std::string& path, const std::optional<std::string>& answer) {
  if (has_control_characters(path))
    throw InputError(fmt::format("{} {}: control characters in the name of a file", flag, path));
  if (path == "-" || (!answer && is_standard_output(path)))
    throw InputError(fmt::format("{} {}: the answer is on standard output; give a FILE", flag, path));
  if (answer && is_one_place(path, *answer))
    throw InputError(fmt::format("{} {}: -o writes the answer to the same file; give another", flag, path));
}

// To CLI11 what begins with dashes is a flag unless it is joined to the flag before: --xla-flags=--name=value.
Words joined(const Words& words, const std::vector<std::string>& dashed) {
  Words all;
  for (std::size_t i = 0; i < words.size(); ++i) {
    const bool takes_next = std::find(dashed.begin(), dashed.end(), words[i]) != dashed.end() && i + 1 < words.size();
    if (takes_next && words[i + 1].empty()) throw InputError(words[i] + ": given as an empty text; none is XLA's defaults");
    all.push_back(takes_next ? words[i] + "=" + words[i + 1] : words[i]);
    if (takes_next) ++i;
  }
  return all;
}

const CLI::Option* option_of(const std::string& word, const CLI::App& parser) {
  return word.starts_with("-") ? parser.get_option_no_throw(word.substr(0, word.find('='))) : nullptr;
}

// Which flag has no value, or one too many: CLI11's error says it in words alone.
std::string mismatch_in(const Words& words, const CLI::App& parser, const CLI::ArgumentMismatch& mismatch) {
  std::set<const CLI::Option*> seen;
  for (std::size_t i = 0; i < words.size(); ++i) {
    const CLI::Option* option = option_of(words[i], parser);
    if (!option || option->get_items_expected_min() == 0) continue;
    const bool joined = words[i].find('=') != std::string::npos;
    if (!joined && (i + 1 == words.size() || option_of(words[i + 1], parser)))
      return words[i] + ": a value is missing";
    const bool again = !seen.insert(option).second;
    if (again && option->get_multi_option_policy() == CLI::MultiOptionPolicy::Throw)
      return option->get_name() + " is given more than once";
  }
  return mismatch.what();
}

}  // namespace

std::string version_text() { return fmt::format("shardplan {}", SHARDPLAN_VERSION); }

CommandParser::CommandParser(const std::string& summary, const std::string& name) : parser_(summary, name) {
  parser_.allow_extras();
  parser_.set_help_flag("-h,--help", "Print this and exit");
  parser_.set_version_flag("--version", version_text(), "Print the version and exit");
  add_output_options(parser_, output_);
}

void CommandParser::add(const std::string& flag, std::optional<std::string>& value, const std::string& type,
                        const std::string& help, Words words) {
  parser_.add_option(flag, value, help)->type_name(type);
  words_[flag] = std::move(words);
}

void CommandParser::add_dashed(const std::string& flag, std::optional<std::string>& value, const std::string& type,
                               const std::string& help) {
  add(flag, value, type, help);
  dashed_.push_back(flag);
}

void CommandParser::add_repeatable(const std::string& flag, Words& values, const std::string& type,
                                   const std::string& help) {
  parser_.add_option(flag, values, help)->type_name(type)->allow_extra_args(false);
}

void CommandParser::add_side_file(const std::string& flag, std::optional<std::string>& path, const std::string& help) {
  add(flag, path, "FILE", help);
  side_files_.emplace_back(flag, &path);
}

void CommandParser::add(const std::string& flag, bool& given, const std::string& help) {
  parser_.add_flag(flag, given, help);
}

void CommandParser::add_words(const std::string& name, Words& words, const std::string& help) {
  parser_.add_option(name, words, help)->type_name("")->expected(0, CLI::detail::expected_max_vector_size);
}

void CommandParser::add_settings(Words& words, const std::string& help) {
  add_words("KEY=VALUE", words, help);
  takes_settings_ = true;
}

CommandDescription CommandParser::describe() const {
  CommandDescription command{"", "", "", parser_.get_description(), {}, footer_, examples_};
  for (const auto* option : parser_.get_options()) {
    FlagDescription flag{{}, option->get_type_name(), option->get_description(), {}, option->get_positional(),
                         option->get_expected_max() > 1};
    for (const auto& name : option->get_snames()) flag.names.push_back("-" + name);
    for (const auto& name : option->get_lnames()) flag.names.push_back("--" + name);
    if (flag.positional) flag.names = {option->get_name(true)};
    if (const auto words = words_.find(flag.names.back()); words != words_.end()) flag.values = words->second;
    if (flag.names.back() == "--format") flag.values = output_.formats;
    if (flag.names.back() == "--color") flag.values = color_words();
    command.flags.push_back(std::move(flag));
  }
  return command;
}

void CommandParser::offer_formats(std::vector<std::string> formats) {
  parser_.get_option("--format")->description(fmt::format("{}", fmt::join(formats, ", ")));
  output_.formats = std::move(formats);
}

Words CommandParser::given() const {
  const Words output = {"--format", "--output", "--color"};
  Words flags;
  for (const auto* option : parser_.get_options()) {
    const std::string name = option->get_lnames().empty() ? option->get_name(true) : "--" + option->get_lnames().front();
    if (option->count() > 0 && std::find(output.begin(), output.end(), name) == output.end()) flags.push_back(name);
  }
  return flags;
}

Task CommandParser::task(std::function<Answer(Format, const Style&)> compute) const {
  const Format format = format_of(output_);
  return {output_.file, style_of(output_),
          [compute = std::move(compute), format](const Style& style) { return compute(format, style); }};
}

void CommandParser::parse(const Words& given) {
  const Words words = joined(given, dashed_);
  try {
    parser_.parse(Words(words.rbegin(), words.rend()));  // CLI11 takes them last first
  } catch (const CLI::CallForHelp&) {
    const CommandDescription command = describe();
    throw HelpRequest{help_of(command, parser_.get_name(), style_of({}).width()), command};
  } catch (const CLI::CallForVersion& version) {
    throw HelpRequest{version.what() + std::string("\n")};
  } catch (const CLI::ArgumentMismatch& mismatch) {
    throw InputError(mismatch_in(words, parser_, mismatch));
  } catch (const CLI::ParseError& error) {
    throw InputError(error.what());
  }
  if (const auto unknown = parser_.remaining(); !unknown.empty())
    refuse(unknown.front(), parser_, instead_, takes_settings_);
  if (output_.file == "-") output_.file.reset();
  check_side_files();
}

void CommandParser::check_side_files() const {
  for (std::size_t i = 0; i < side_files_.size(); ++i) {
    const auto& [flag, path] = side_files_[i];
    if (!*path) continue;
    check_side_file(flag, **path, output_.file);
    for (std::size_t j = 0; j < i; ++j)
      if (const auto& [other, place] = side_files_[j]; *place && is_one_place(**path, **place))
        throw InputError(fmt::format("{} {}: {} writes to the same file; give another", flag, **path, other));
  }
}

}  // namespace shardplan
