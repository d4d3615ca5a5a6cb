#include <fmt/format.h>
#include <yaml-cpp/eventhandler.h>

#include <rules/yaml_document.hpp>
#include <set>
#include <shardplan/error.hpp>
#include <sstream>
#include <vector>

namespace shardplan {
namespace {

[[noreturn]] void fail_on_line(const YAML::Mark& mark, const std::string& file, const std::string& message) {
  if (mark.is_null()) throw InputError(fmt::format("{}: {}", file, message));
  throw InputError(fmt::format("{}:{}: {}", file, mark.line + 1, message));
}

/// Follows the parser's events to see what YAML::Node hides: that a mapping has a key twice (PyYAML would keep the last
/// one in silence, OmegaConf and we refuse). Events also never expand aliases, so no input makes this walk explode.
class DuplicateKeyCheck : public YAML::EventHandler {
 public:
  explicit DuplicateKeyCheck(std::string file) : file_(std::move(file)) {}

  void OnDocumentStart(const YAML::Mark& mark) override {
    if (++documents_ > 1) fail_on_line(mark, file_, "expected one YAML document, found more text after it");
  }
  void OnDocumentEnd() override {}
  void OnNull(const YAML::Mark&, YAML::anchor_t) override { element(); }
  void OnAlias(const YAML::Mark&, YAML::anchor_t) override { element(); }
  void OnScalar(const YAML::Mark& mark, const std::string&, YAML::anchor_t, const std::string& value) override {
    if (at_key() && !open_.back().keys.insert(value).second)
      fail_on_line(mark, file_, fmt::format("key '{}' is given twice", value));
    element();
  }
  void OnSequenceStart(const YAML::Mark&, const std::string&, YAML::anchor_t, YAML::EmitterStyle::value) override {
    element();
    open_.push_back({});
  }
  void OnSequenceEnd() override { open_.pop_back(); }
  void OnMapStart(const YAML::Mark&, const std::string&, YAML::anchor_t, YAML::EmitterStyle::value) override {
    element();
    open_.push_back({.is_mapping = true, .key_next = true, .keys = {}});
  }
  void OnMapEnd() override { open_.pop_back(); }

 private:
  struct Collection {
    bool is_mapping = false;
    bool key_next = false;
    std::set<std::string> keys;
  };

  bool at_key() const { return !open_.empty() && open_.back().key_next; }
  /// In a mapping, keys and values take turns.
  void element() {
    if (!open_.empty() && open_.back().is_mapping) open_.back().key_next = !open_.back().key_next;
  }

  std::string file_;
  int documents_ = 0;
  std::vector<Collection> open_;
};

void check_duplicate_keys(const std::string& text, const std::string& file) {
  std::istringstream stream(text);
  YAML::Parser parser(stream);
  DuplicateKeyCheck check(file);
  while (parser.HandleNextDocument(check)) {
  }
}

}  // namespace

YAML::Node parse_yaml(std::string_view text, const std::string& file) {
  try {
    const std::string owned(text);
    check_duplicate_keys(owned, file);
    return YAML::Load(owned);
  } catch (const YAML::Exception& problem) {
    fail_on_line(problem.mark, file, "malformed YAML: " + problem.msg);
  }
}

void fail_at(const YAML::Node& node, const std::string& file, const std::string& message) {
  fail_on_line(node.Mark(), file, message);
}

std::string found(const YAML::Node& node) {
  switch (node.Type()) {
    case YAML::NodeType::Undefined:
    case YAML::NodeType::Null:
      return "nothing";
    case YAML::NodeType::Scalar:
      return fmt::format("'{}'", node.Scalar());
    case YAML::NodeType::Sequence:
      return fmt::format("a list of {}", node.size());
    case YAML::NodeType::Map:
      return "a mapping";
  }
  throw InternalError("unknown YAML node type");
}

}  // namespace shardplan
