#pragma once
// The arguments of one run by key: KEY=VALUE words and the keys of a MaxText YAML file, checked against the table of
// keys and parsed, once. Whoever comes later sees values.
#include <cstdint>
#include <map>
#include <optional>
#include <shardplan/model.hpp>
#include <shardplan/train_config.hpp>
#include <span>
#include <string>
#include <variant>
#include <vector>

namespace shardplan {

/// The type follows from the key (parse_argument.hpp). Text: names, and what may be repeated but not changed.
using ArgumentValue = std::variant<std::string, bool, std::int64_t, double, DType, OptimizerType, AttentionKernel,
                                   ContextStrategy, CustomMesh, Quantization, Calibration, MixedPrecision, SavePlace>;

struct GivenArgument {
  std::string text;      ///< as written, for messages
  std::string place;     ///< begins an error: "capacity_factor=x", "run.yml: capacity_factor=x"
  bool in_file = false;  ///< from the YAML file, which yields to the model's own file, as in MaxText
  ArgumentValue value = {};
};

class GivenArguments {
 public:
  /// Throws InputError on a word that is not KEY=VALUE, a key given twice, an unknown key, a malformed value, or a key
  /// that shardplan does not model with a value that is not its default.
  GivenArguments(std::span<const std::string> key_values, const std::optional<std::string>& config_file);

  /// One more KEY=VALUE. Throws InputError likewise.
  void add(const std::string& word);

  const GivenArgument* find(const std::string& key) const;
  /// Null where the key is not given, or is given as "not set".
  template <class Value>
  const Value* value(const std::string& key) const {
    const auto* argument = find(key);
    return argument ? std::get_if<Value>(&argument->value) : nullptr;
  }
  bool flag(const std::string& key, bool otherwise) const;
  std::optional<std::int64_t> integer(const std::string& key) const;
  std::string text(const std::string& key, std::string otherwise) const;
  const std::map<std::string, GivenArgument>& all() const { return given_; }

  /// The file that leaves the model to the command line (model_of_command_line); "": none does.
  const std::string& file_without_model() const { return file_without_model_; }

  /// What stands in place of base.yml's rules (config_file.hpp), and what changes the rules behind the model's own file.
  const ModelRules& rules_in_file() const { return rules_in_file_; }
  /// The YAML file that has their list; "" where none has.
  const std::string& rules_path() const { return rules_path_; }
  const ModelRules& rules_on_command_line() const { return rules_on_command_line_; }

 private:
  std::map<std::string, GivenArgument> given_;
  std::string file_without_model_, rules_path_;
  ModelRules rules_in_file_, rules_on_command_line_;
};

}  // namespace shardplan
