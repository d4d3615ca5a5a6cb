#include <fmt/format.h>
#include <yaml-cpp/eventhandler.h>

#include <map>
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
/// one in silence, OmegaConf and we refuse), and how much its aliases stand for. Events never expand them, so no input makes
/// this walk explode.
class DocumentCheck : public YAML::EventHandler {
 public:
  explicit DocumentCheck(std::string file) : file_(std::move(file)) {}

  void OnDocumentStart(const YAML::Mark& mark) override {
    if (++documents_ > 1) fail_on_line(mark, file_, "expected one YAML document, found more text after it");
  }
  void OnDocumentEnd() override {}
  void OnNull(const YAML::Mark&, YAML::anchor_t anchor) override { element(anchor); }
  void OnAlias(const YAML::Mark& mark, YAML::anchor_t anchor) override {
    const auto size = sizes_.find(anchor);
    if (size == sizes_.end()) fail_on_line(mark, file_, "an alias stands for what it is in, without end");
    element(0, size->second);
    if (size_ > most_elements)
      fail_on_line(mark, file_, fmt::format("aliases that stand for more than {} values in all", most_elements));
  }
  void OnScalar(const YAML::Mark& mark, const std::string&, YAML::anchor_t anchor, const std::string& value) override {
    if (at_key() && !open_.back().keys.insert(value).second)
      fail_on_line(mark, file_, fmt::format("key '{}' is given twice", value));
    element(anchor);
  }
  void OnSequenceStart(const YAML::Mark&, const std::string&, YAML::anchor_t anchor, YAML::EmitterStyle::value) override {
    element();
    open_.push_back({.anchor = anchor, .begins_at = size_ - 1});
  }
  void OnSequenceEnd() override { close(); }
  void OnMapStart(const YAML::Mark&, const std::string&, YAML::anchor_t anchor, YAML::EmitterStyle::value) override {
    element();
    open_.push_back({.anchor = anchor, .begins_at = size_ - 1, .is_mapping = true, .key_next = true});
  }
  void OnMapEnd() override { close(); }

 private:
  /// What files of MaxText have is a hundredth of that. Whoever reads an alias reads all that it stands for.
  static constexpr std::int64_t most_elements = 100'000;

  struct Collection {
    YAML::anchor_t anchor = 0;   ///< 0: none
    std::int64_t begins_at = 0;  ///< elements before it
    bool is_mapping = false;
    bool key_next = false;
    std::set<std::string> keys = {};
  };

  bool at_key() const { return !open_.empty() && open_.back().key_next; }
  /// In a mapping, keys and values take turns. `size`: how many values it stands for.
  void element(YAML::anchor_t anchor = 0, std::int64_t size = 1) {
    size_ += size;
    if (anchor != 0) sizes_[anchor] = size;
    if (!open_.empty() && open_.back().is_mapping) open_.back().key_next = !open_.back().key_next;
  }

  void close() {
    const Collection& closed = open_.back();
    if (closed.anchor != 0) sizes_[closed.anchor] = size_ - closed.begins_at;
    open_.pop_back();
  }

  std::string file_;
  std::int64_t size_ = 0;
  std::map<YAML::anchor_t, std::int64_t> sizes_;  ///< of anchors that have ended
  int documents_ = 0;
  std::vector<Collection> open_;
};

void check_duplicate_keys(const std::string& text, const std::string& file) {
  std::istringstream stream(text);
  YAML::Parser parser(stream);
  DocumentCheck check(file);
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
