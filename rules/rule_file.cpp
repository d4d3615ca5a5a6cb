#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <numeric>
#include <rules/rule_file.hpp>
#include <rules/yaml_document.hpp>
#include <set>
#include <shardplan/error.hpp>
#include <utility>

namespace shardplan {
namespace {

const std::vector<std::string>& our_keys() {
  static const std::vector<std::string> keys = {"mesh_axes", "logical_axis_rules", "data_sharding", "context_sharding",
                                                "override_logical_axis_rules"};
  return keys;
}

/// MaxText's names are identifiers; anything else is a slip of quotes, commas or brackets.
bool is_identifier(std::string_view text) {
  const auto letter = [](unsigned char c) { return std::isalnum(c) != 0 || c == '_' || c == '-'; };
  return !text.empty() && std::isdigit(static_cast<unsigned char>(text.front())) == 0 &&
         std::all_of(text.begin(), text.end(), letter);
}

/// Reads the values of one file; every method names what it reads ("logical_axis_rules[3]") in its complaint.
class RuleFileReader {
 public:
  explicit RuleFileReader(const std::string& file) : file_(&file) {}

  std::string name(const YAML::Node& node, const std::string& what) const {
    if (!node.IsScalar() || !is_identifier(node.Scalar())) expected(node, what, "a name");
    return node.Scalar();
  }

  /// ['data', 'fsdp'], 'data', or null for none.
  std::vector<std::string> axes(const YAML::Node& node, const std::string& what) const {
    if (node.IsNull()) return {};
    if (node.IsScalar()) return {name(node, what)};
    if (!node.IsSequence()) expected(node, what, "a mesh axis or a list of mesh axes");
    std::vector<std::string> list;
    for (const auto& element : node) {
      list.push_back(name(element, what));
      if (std::count(list.begin(), list.end(), list.back()) > 1)
        fail_at(element, *file_, fmt::format("{}: mesh axis '{}' is given twice", what, list.back()));
    }
    return list;
  }

  Rule rule(const YAML::Node& node, const std::string& what) const {
    if (!node.IsSequence() || node.size() != 2) expected(node, what, "[name, axis] or [name, [axes]]");
    const std::string logical = name(node[0], what);
    return {logical, axes(node[1], fmt::format("{} ({})", what, logical))};
  }

  std::vector<Rule> rules(const YAML::Node& node, const std::string& what) const {
    if (!node.IsSequence()) expected(node, what, "a list of [name, axis] and [name, [axes]] pairs");
    std::vector<Rule> list;
    for (const auto& element : node) list.push_back(rule(element, fmt::format("{}[{}]", what, list.size())));
    return list;
  }

  /// MaxText gives one entry for each dim of the batch; more than one would shard the sequence of the input too.
  std::vector<std::string> data_sharding(const YAML::Node& node) const {
    if (!node.IsSequence() || node.size() != 1)
      expected(node, "data_sharding", "one list of mesh axes, [['data', 'fsdp']]");
    return axes(node[0], "data_sharding");
  }

  std::vector<std::string> mesh_axes(const YAML::Node& node) const {
    if (!node.IsSequence() || node.size() == 0) expected(node, "mesh_axes", "a list of mesh axes");
    if (node.size() > most_mesh_axes) expected(node, "mesh_axes", fmt::format("at most {} mesh axes", most_mesh_axes));
    return axes(node, "mesh_axes");
  }

  bool flag(const YAML::Node& node, const std::string& what) const {
    bool value = false;
    if (!node.IsScalar() || !YAML::convert<bool>::decode(node, value)) expected(node, what, "true or false");
    return value;
  }

  /// MaxText validates the value and then, for custom rules, derives it from the rule `activation_length` instead.
  void check_context_sharding(const YAML::Node& node) const {
    if (!node.IsScalar() || (node.Scalar() != "context" && node.Scalar() != "expert"))
      expected(node, "context_sharding", "'context' or 'expert'");
  }

  [[noreturn]] void expected(const YAML::Node& node, const std::string& what, std::string_view form) const {
    fail_at(node, *file_, fmt::format("{}: expected {}, found {}", what, form, found(node)));
  }

 private:
  const std::string* file_;
};

/// Edits (insert, delete, replace a letter) that turn one word into the other.
std::size_t edits(std::string_view a, std::string_view b) {
  std::vector<std::size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 0; i < a.size(); ++i) {
    std::size_t diagonal = std::exchange(row[0], i + 1);
    for (std::size_t j = 0; j < b.size(); ++j)
      diagonal = std::exchange(row[j + 1], std::min({diagonal + (a[i] == b[j] ? 0 : 1), row[j] + 1, row[j + 1] + 1}));
  }
  return row.back();
}

/// Two edits are a slip of the fingers; of the 794 other keys in MaxText's files the nearest, debug_sharding, is four
/// away.
void check_spelling(const YAML::Node& key, const std::string& file) {
  for (const auto& ours : our_keys())
    if (key.Scalar().size() <= ours.size() + 2 && edits(key.Scalar(), ours) <= 2)
      fail_at(key, file, fmt::format("unknown key '{}'; nearest: {}", key.Scalar(), ours));
}

void read_key(const YAML::Node& key, const YAML::Node& value, const std::string& file, RuleFile& content) {
  const RuleFileReader reader(file);
  const std::string& name = key.Scalar();
  if (name == "mesh_axes") {
    content.mesh_axes = reader.mesh_axes(value);
  } else if (name == "logical_axis_rules") {
    content.rules = reader.rules(value, name);
  } else if (name == "data_sharding") {
    content.data_sharding = reader.data_sharding(value);
  } else if (name == "context_sharding") {
    reader.check_context_sharding(value);
  } else if (name == "override_logical_axis_rules") {
    content.override_rules = reader.flag(value, name);
    content.other_keys.push_back(name);  // a setting of base.yml and model files, not of custom_mesh_and_rule files
  } else {
    check_spelling(key, file);
    content.other_keys.push_back(name);
  }
}

}  // namespace

RuleFile read_rule_file(std::string_view yaml, const std::string& file) {
  const YAML::Node root = parse_yaml(yaml, file);
  const RuleFileReader reader(file);
  if (!root.IsMap()) reader.expected(root, "the file", "a mapping with logical_axis_rules");
  RuleFile content;
  for (const auto& entry : root) {
    if (!entry.first.IsScalar()) reader.expected(entry.first, "a key", "a name");
    read_key(entry.first, entry.second, file, content);
  }
  return content;
}

void require_rules(const RuleFile& content, const std::string& file) {
  if (!content.rules.empty()) return;
  const auto nearest = nearest_names("logical_axis_rules", content.other_keys, 1);
  const std::string hint = nearest.empty() ? "" : fmt::format("; nearest key: {}", nearest.front());
  throw InputError(fmt::format("{}: expected logical_axis_rules, a list of [name, axes] pairs{}", file, hint));
}

}  // namespace shardplan
