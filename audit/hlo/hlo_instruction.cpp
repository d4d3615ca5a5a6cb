#include <audit/hlo/hlo_instruction.hpp>
#include <audit/hlo/hlo_shape.hpp>
#include <cctype>
#include <charconv>

namespace shardplan {
namespace {

constexpr std::size_t none = std::string_view::npos;

/// Where the bracket at `begin` is closed, or the last of `depth` brackets that are open there; quotes hide brackets.
std::size_t closing(std::string_view text, std::size_t begin, int depth = 0) {
  bool quoted = false;
  for (std::size_t i = begin; i < text.size(); ++i) {
    const char c = text[i];
    if (quoted) {
      if (c == '\\')
        ++i;
      else if (c == '"')
        quoted = false;
      continue;
    }
    if (c == '"')
      quoted = true;
    else if (c == '(' || c == '[' || c == '{')
      ++depth;
    else if ((c == ')' || c == ']' || c == '}') && --depth == 0)
      return i;
  }
  return none;
}

/// The end of the operand list, which the text is in.
std::size_t end_of_operands(std::string_view rest) { return closing(rest, 0, 1); }

/// The end of an attribute's value: the next comma outside of brackets and quotes. A mesh goes on behind its axes:
/// mesh['a'=2], device_ids=(1,0) {'a'}
std::size_t end_of_value(std::string_view text, std::size_t begin) {
  if (text.substr(begin).starts_with("mesh[")) {
    const auto groups = text.find(" {", begin);
    return groups == none ? none : text.find('}', groups) == none ? none : text.find('}', groups) + 1;
  }
  for (std::size_t i = begin; i < text.size(); ++i) {
    const char c = text[i];
    if (c == ',') return i;
    if (c == '"') {
      for (++i; i < text.size() && text[i] != '"'; ++i)
        if (text[i] == '\\') ++i;
    } else if (c == '{' || c == '(' || c == '[') {
      i = closing(text, i);
      if (i == none) return none;
    }
  }
  return text.size();
}

bool ends_structure(std::string_view key) {
  return key == "metadata" || key == "backend_config" || key == "frontend_attributes";
}

}  // namespace

Opcode split_opcode(std::string_view opcode) {
  constexpr std::string_view suffix = "-start";
  if (!opcode.ends_with(suffix)) return {opcode};
  return {opcode.substr(0, opcode.size() - suffix.size()), true};
}

std::string_view without_percent(std::string_view name) {
  if (name.starts_with('%')) name.remove_prefix(1);
  return name;
}

std::optional<HloInstruction> parse_instruction(std::string_view line) {
  HloInstruction result;
  while (line.starts_with(' ')) line.remove_prefix(1);
  if (line.starts_with("ROOT ")) {
    result.root = true;
    line.remove_prefix(5);
  }
  const auto equals = line.find(" = ");
  if (equals == none || equals == 0 || line.substr(0, equals).find_first_of(" (") != none) return std::nullopt;
  result.name = without_percent(line.substr(0, equals));
  line.remove_prefix(equals + 3);
  const auto shape_end = line.starts_with('(') ? closing(line, 0) + 1 : line.find(' ');
  if (shape_end == none || shape_end == 0 || shape_end >= line.size() || line[shape_end] != ' ') return std::nullopt;
  result.shape = line.substr(0, shape_end);
  line.remove_prefix(shape_end + 1);
  std::size_t length = 0;
  while (length < line.size() && (std::islower(static_cast<unsigned char>(line[length])) || line[length] == '-' ||
                                  std::isdigit(static_cast<unsigned char>(line[length]))))
    ++length;
  if (length == 0 || length >= line.size() || line[length] != '(') return std::nullopt;
  result.opcode = line.substr(0, length);
  result.rest = line.substr(length + 1);
  return result;
}

std::optional<std::vector<std::string_view>> operands_of(const HloInstruction& instruction) {
  const auto end = end_of_operands(instruction.rest);
  if (end == none) return std::nullopt;
  auto operands = split_list(instruction.rest.substr(0, end));
  for (auto& operand : operands) operand = without_percent(operand.substr(operand.rfind(' ') + 1));
  return operands;
}

std::optional<std::string_view> attribute_of(const HloInstruction& instruction, std::string_view key) {
  const auto end = end_of_operands(instruction.rest);
  if (end == none) return std::nullopt;
  std::string_view text = instruction.rest.substr(end + 1);
  while (text.starts_with(", ")) {
    text.remove_prefix(2);
    const auto equals = text.find('=');
    if (equals == none) break;
    const auto name = text.substr(0, equals);
    if (ends_structure(name) && key != name) break;
    const auto value_end = end_of_value(text, equals + 1);
    if (value_end == none) break;
    if (name == key) return text.substr(equals + 1, value_end - equals - 1);
    text.remove_prefix(value_end);
  }
  return std::nullopt;
}

std::string op_name_of(const HloInstruction& instruction) {
  constexpr std::string_view key = "metadata={";
  const auto metadata = instruction.rest.find(key);
  if (metadata == none) return "";
  const auto text = instruction.rest.substr(metadata);
  const auto begin = text.find("op_name=\"");
  const auto backend = text.find("backend_config=");
  if (begin == none || begin > backend) return "";
  std::string name;
  for (std::size_t i = begin + 9; i < text.size() && text[i] != '"'; ++i) {
    if (text[i] == '\\' && i + 1 < text.size()) ++i;
    name += text[i];
  }
  return name;
}

std::optional<std::int64_t> parse_integer(std::string_view text) {
  std::int64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return number;
}

}  // namespace shardplan
