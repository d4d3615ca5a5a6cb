#pragma once
// JSON as the loaders want it: a duplicate key, an unknown key, a missing key or a value of another type is one
// InputError naming file, place and what was expected. Numbers are never truncated (8.9 is not an integer).
#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace shardplan {

/// Parses `text`, in which // and /* */ begin comments; `file` names it in errors. Throws InputError (line and column)
/// on malformed text or a duplicate key.
nlohmann::json parse_json(std::string_view text, std::string_view file);

/// Reads a file whole. What a pipe gives (/dev/stdin, <(git show main:rules.yml)) it gives once: asked again it is the same.
/// Throws InputError when it can't be read.
std::string read_file(const std::string& path);

/// Whether this is the path of a JSON file, not the name of one that is built in.
bool is_json_path(const std::string& name_or_path);

/// An object whose keys are taken one by one; `finish` rejects those that nobody took.
class StrictObject {
 public:
  StrictObject(const nlohmann::json& value, std::string where);

  bool has(const std::string& key) const;
  bool asks_for(const std::string& key);  ///< likewise, of one that may be left out: it is among `asked` then
  std::string text(const std::string& key);
  std::string nonempty_text(const std::string& key);
  double number(const std::string& key);
  double number_between(const std::string& key, double least, double most);
  /// What an answer can have printed: all that is computed of such numbers is finite.
  double magnitude(const std::string& key, double least = 0) { return number_between(key, least, 1e30); }
  std::int64_t integer(const std::string& key);
  std::int64_t integer_at_least(const std::string& key, std::int64_t least);
  std::int64_t integer_between(const std::string& key, std::int64_t least, std::int64_t most);
  int count(const std::string& key, int least);  ///< how many of something: likewise, and no more than an int holds
  bool flag(const std::string& key);
  std::vector<std::string> texts(const std::string& key);
  std::vector<std::int64_t> integers(const std::string& key);
  StrictObject object(const std::string& key);
  const nlohmann::json& array(const std::string& key);
  const nlohmann::json& any(const std::string& key);  ///< the raw value, marked as taken
  const nlohmann::json& peek(const std::string& key) const;  ///< likewise, and left for others; it has to be there

  std::string text_or(const std::string& key, std::string otherwise);
  double number_or(const std::string& key, double otherwise);
  std::int64_t integer_or(const std::string& key, std::int64_t otherwise);
  bool flag_or(const std::string& key, bool otherwise);

  /// The keys that were asked for, there or not, and those that were never taken, both alphabetical.
  std::vector<std::string> asked() const { return {taken_.begin(), taken_.end()}; }
  std::vector<std::string> untaken() const;
  /// Throws InputError on the first key that was never taken, with the nearest key that was.
  void finish() const;
  const std::string& where() const { return where_; }
  /// `text`, which stands at `key`. Throws InputError where it has control characters: texts are printed as they are.
  std::string checked(const std::string& key, std::string text) const;
  [[noreturn]] void fail(const std::string& key, std::string_view expected) const;

 private:
  const nlohmann::json& take(const std::string& key);

  const nlohmann::json* value_;
  std::string where_;
  std::set<std::string> taken_;
};

}  // namespace shardplan
