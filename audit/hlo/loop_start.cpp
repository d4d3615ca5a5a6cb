#include <audit/hlo/loop_start.hpp>

namespace shardplan {
namespace {

/// One whole number, of any width and layout: "s32[]{:T(128)}".
bool is_counter(std::string_view shape) {
  return shape.starts_with("s32[]") || shape.starts_with("s64[]") || shape.starts_with("u32[]");
}

}  // namespace

void LoopStart::begin() {
  constants_.clear();
  copies_.clear();
  tuples_.clear();
}

void LoopStart::see(const HloInstruction& instruction) {
  const bool tuple = instruction.opcode == "tuple";
  if (!tuple && !is_counter(instruction.shape)) return;
  const auto operands = operands_of(instruction);
  if (!operands || operands->empty()) return;
  const std::string name(instruction.name);
  if (tuple) {
    tuples_[name].assign(operands->begin(), operands->end());
  } else if (instruction.opcode == "constant") {
    if (const auto value = parse_integer(operands->front())) constants_.emplace(name, *value);
  } else if (instruction.opcode == "copy" || instruction.opcode == "bitcast") {
    copies_.emplace(name, operands->front());
  }
}

std::optional<std::int64_t> LoopStart::of(const HloInstruction& loop, std::size_t counter) const {
  const auto operands = operands_of(loop);
  const auto tuple = operands && operands->size() == 1 ? tuples_.find(std::string(operands->front())) : tuples_.end();
  if (tuple == tuples_.end() || counter >= tuple->second.size()) return std::nullopt;
  std::string name = tuple->second[counter];
  std::size_t hops = 0;
  for (auto copy = copies_.find(name); copy != copies_.end(); copy = copies_.find(name)) {
    if (hops++ == copies_.size()) return std::nullopt;  // copies of each other
    name = copy->second;
  }
  const auto constant = constants_.find(name);
  return constant == constants_.end() ? std::nullopt : std::optional(constant->second);
}

}  // namespace shardplan
