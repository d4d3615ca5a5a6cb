#include <algorithm>
#include <audit/hlo/loop_condition.hpp>
#include <charconv>

namespace shardplan {
namespace {

std::optional<std::int64_t> parse_integer(const std::string& text) {
  std::int64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return number;
}

}  // namespace

void LoopCondition::add(const HloInstruction& instruction) {
  Step step;
  step.name = instruction.name;
  step.opcode = instruction.opcode;
  if (const auto operands = operands_of(instruction)) step.operands.assign(operands->begin(), operands->end());
  if (const auto direction = attribute_of(instruction, "direction")) step.direction = *direction;
  if (const auto callee = attribute_of(instruction, "calls")) step.callee = without_percent(*callee);
  if (instruction.root) root_ = step.name;
  steps_.push_back(std::move(step));
}

const LoopCondition::Step* LoopCondition::find_step(const std::string& name) const {
  const auto found = std::find_if(steps_.begin(), steps_.end(), [&](const Step& step) { return step.name == name; });
  return found == steps_.end() ? nullptr : &*found;
}

const LoopCondition::Step* LoopCondition::through_copies(const std::string& name) const {
  const Step* step = find_step(name);
  while (step && (step->opcode == "copy" || step->opcode == "bitcast") && step->operands.size() == 1)
    step = find_step(step->operands[0]);
  return step;
}

std::optional<std::int64_t> LoopCondition::constant(const std::string& name, const LoopCondition* caller,
                                                    const Step* call) const {
  const Step* step = through_copies(name);
  if (!step || step->operands.size() != 1) return std::nullopt;
  if (step->opcode == "constant") return parse_integer(step->operands[0]);
  if (step->opcode != "parameter" || !caller) return std::nullopt;
  const auto index = parse_integer(step->operands[0]);
  if (!index || *index < 0 || *index >= static_cast<std::int64_t>(call->operands.size())) return std::nullopt;
  return caller->constant(call->operands[static_cast<std::size_t>(*index)], nullptr, nullptr);
}

std::optional<std::int64_t> LoopCondition::trips_of(const Step& step, const LoopCondition* caller,
                                                    const Step* call) const {
  if (step.opcode != "compare" || step.operands.size() != 2) return std::nullopt;
  const auto left = constant(step.operands[0], caller, call), right = constant(step.operands[1], caller, call);
  if (left.has_value() == right.has_value()) return std::nullopt;
  const bool below = step.direction == "LT" || step.direction == "NE", at_most = step.direction == "LE";
  const bool above = step.direction == "GT" || step.direction == "NE", at_least = step.direction == "GE";
  std::optional<std::int64_t> trips;
  if (right && (below || at_most)) trips = *right + (at_most ? 1 : 0);
  if (left && (above || at_least)) trips = *left + (at_least ? 1 : 0);
  return trips && *trips >= 0 ? trips : std::nullopt;
}

std::optional<std::int64_t> LoopCondition::trips(
    const std::function<const LoopCondition*(const std::string&)>& find) const {
  const Step* root = through_copies(root_);
  if (!root) return std::nullopt;
  if (root->opcode != "fusion") return trips_of(*root, nullptr, nullptr);
  const LoopCondition* inner = find(root->callee);
  const Step* compare = inner ? inner->through_copies(inner->root_) : nullptr;
  return compare ? inner->trips_of(*compare, this, root) : std::nullopt;
}

}  // namespace shardplan
