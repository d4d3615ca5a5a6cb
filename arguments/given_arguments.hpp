#pragma once
// The arguments of one run by key: KEY=VALUE words and the keys of a MaxText YAML file, checked against the table of
// keys.
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace shardplan {

struct GivenArgument {
  std::string value;
  std::string place;     ///< begins an error: "capacity_factor=x", "run.yml: capacity_factor=x"
  bool in_file = false;  ///< from the YAML file, which yields to the model's own file, as in MaxText
};

class GivenArguments {
 public:
  /// Throws InputError on a word that is not KEY=VALUE, a key given twice, an unknown key, or a key that shardplan does
  /// not model with a value that is not its default.
  GivenArguments(std::span<const std::string> key_values, const std::optional<std::string>& config_file);

  const GivenArgument* find(const std::string& key) const;
  bool flag(const std::string& key, bool otherwise) const;
  std::optional<std::int64_t> integer(const std::string& key) const;
  std::string text(const std::string& key, std::string otherwise) const;
  const std::map<std::string, GivenArgument>& all() const { return given_; }
  const std::optional<std::string>& config_file() const { return config_file_; }

 private:
  std::map<std::string, GivenArgument> given_;
  std::optional<std::string> config_file_;
};

}  // namespace shardplan
