#include <algorithm>
#include <audit/hlo/loop_condition.hpp>

namespace shardplan {

void LoopCondition::add(const HloInstruction& instruction) {
  Step step;
  step.name = instruction.name;
  step.opcode = instruction.opcode;
  if (const auto operands = operands_of(instruction)) step.operands.assign(operands->begin(), operands->end());
  if (const auto direction = attribute_of(instruction, "direction")) step.direction = *direction;
  if (const auto index = attribute_of(instruction, "index")) step.index = parse_integer(*index);
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
  const auto is_copy = [](const Step& some) {
    return (some.opcode == "copy" || some.opcode == "bitcast") && some.operands.size() == 1;
  };
  for (std::size_t hops = 0; step && is_copy(*step); ++hops) {
    if (hops == steps_.size()) return nullptr;  // copies of each other
    step = find_step(step->operands[0]);
  }
  return step;
}

std::optional<std::string> LoopCondition::argument_of(const Step& parameter, const Step& call) {
  if (parameter.opcode != "parameter" || parameter.operands.size() != 1) return std::nullopt;
  const auto index = parse_integer(parameter.operands[0]);
  if (!index || *index < 0 || *index >= static_cast<std::int64_t>(call.operands.size())) return std::nullopt;
  return call.operands[static_cast<std::size_t>(*index)];
}

std::optional<std::int64_t> LoopCondition::constant(const std::string& name, const LoopCondition* caller,
                                                    const Step* call) const {
  const Step* step = through_copies(name);
  if (!step || step->operands.size() != 1) return std::nullopt;
  if (step->opcode == "constant") return parse_integer(step->operands[0]);
  const auto argument = caller ? argument_of(*step, *call) : std::nullopt;
  return argument ? caller->constant(*argument, nullptr, nullptr) : std::nullopt;
}

std::optional<std::size_t> LoopCondition::element(const std::string& name, const LoopCondition* caller,
                                                  const Step* call) const {
  if (const auto hash = name.rfind('#'); hash != std::string::npos) {  // newer texts: an element by itself, "%param.2#0"
    const auto index = parse_integer(name.substr(hash + 1));
    return index && *index >= 0 ? std::optional(static_cast<std::size_t>(*index)) : std::nullopt;
  }
  const Step* step = through_copies(name);
  if (!step) return std::nullopt;
  if (step->opcode == "get-tuple-element" && step->index && *step->index >= 0)
    return static_cast<std::size_t>(*step->index);
  const auto argument = caller ? argument_of(*step, *call) : std::nullopt;
  return argument ? caller->element(*argument, nullptr, nullptr) : std::nullopt;
}

std::optional<LoopBound> LoopCondition::bound_of(const Step& step, const LoopCondition* caller,
                                                 const Step* call) const {
  if (step.opcode != "compare" || step.operands.size() != 2) return std::nullopt;
  const auto left = constant(step.operands[0], caller, call), right = constant(step.operands[1], caller, call);
  if (left.has_value() == right.has_value()) return std::nullopt;
  const bool below = step.direction == "LT" || step.direction == "NE", at_most = step.direction == "LE";
  const bool above = step.direction == "GT" || step.direction == "NE", at_least = step.direction == "GE";
  std::optional<std::int64_t> trips;
  if (right && (below || at_most)) trips = *right + (at_most ? 1 : 0);
  if (left && (above || at_least)) trips = *left + (at_least ? 1 : 0);
  if (!trips || *trips < 0) return std::nullopt;
  return LoopBound{*trips, element(step.operands[right ? 0 : 1], caller, call)};
}

std::optional<LoopBound> LoopCondition::bound(
    const std::function<const LoopCondition*(const std::string&)>& find) const {
  const Step* root = through_copies(root_);
  if (!root) return std::nullopt;
  if (root->opcode != "fusion") return bound_of(*root, nullptr, nullptr);
  const LoopCondition* inner = find(root->callee);
  const Step* compare = inner ? inner->through_copies(inner->root_) : nullptr;
  return compare ? inner->bound_of(*compare, this, root) : std::nullopt;
}

}  // namespace shardplan
