#include <algorithm>
#include <audit/hlo/slice_tracker.hpp>
#include <charconv>

namespace shardplan {
namespace {

std::size_t hash_of(std::string_view name) { return std::hash<std::string_view>{}(name); }

/// The same value under another name.
bool passes_on(std::string_view opcode) {
  return opcode == "get-tuple-element" || opcode == "bitcast" || opcode == "copy" || opcode.ends_with("-done");
}

constexpr std::size_t most_parameters = 10000;

}  // namespace

void SliceTracker::begin(std::size_t computation) {
  computation_ = computation;
  parameters_.clear();
  watched_.clear();
  uses_.clear();
}

void SliceTracker::watch(const HloInstruction& instruction, std::size_t collective, std::int64_t bytes,
                         std::int64_t group_size) {
  watched_.push_back({hash_of(instruction.name), collective, bytes, group_size});
  uses_[collective];
}

void SliceTracker::note_slice(const HloInstruction& instruction, std::int64_t bytes) {
  const auto operands = operands_of(instruction);
  if (!operands || operands->empty()) return;
  if (instruction.opcode == "parameter") {
    std::size_t number = most_parameters;
    std::from_chars(operands->front().data(), operands->front().data() + operands->front().size(), number);
    if (number >= most_parameters) return;
    if (parameters_.size() <= number) parameters_.resize(number + 1);
    parameters_[number] = hash_of(instruction.name);
    return;
  }
  const auto found = std::find(parameters_.begin(), parameters_.end(), hash_of(operands->front()));
  if (found != parameters_.end())
    slices_of_[computation_].push_back({static_cast<std::size_t>(found - parameters_.begin()), bytes});
}

void SliceTracker::note_use(const HloInstruction& instruction, std::size_t operand, const Value& value,
                            std::int64_t bytes, std::optional<std::size_t> callee) {
  Uses& uses = uses_[value.collective];
  const auto is_part = [&](std::int64_t part) { return part * value.group_size == value.bytes; };
  bool slices = instruction.opcode == "dynamic-slice" && operand == 0 && is_part(bytes);
  if (const auto inside = callee ? slices_of_.find(*callee) : slices_of_.end(); inside != slices_of_.end())
    slices = std::any_of(inside->second.begin(), inside->second.end(),
                         [&](const Slice& slice) { return slice.parameter == operand && is_part(slice.bytes); });
  ++(slices ? uses.slices : uses.others);
}

void SliceTracker::see(const HloInstruction& instruction, std::int64_t bytes, std::optional<std::size_t> callee) {
  if (instruction.opcode == "parameter" || instruction.opcode == "dynamic-slice") note_slice(instruction, bytes);
  if (watched_.empty()) return;
  const auto operands = operands_of(instruction);
  if (!operands) return;
  for (std::size_t i = 0; i < operands->size(); ++i) {
    const auto hash = hash_of((*operands)[i]);
    const auto found =
        std::find_if(watched_.begin(), watched_.end(), [&](const Value& v) { return v.name_hash == hash; });
    if (found == watched_.end()) continue;
    const Value value = *found;
    if (passes_on(instruction.opcode))
      watched_.push_back({hash_of(instruction.name), value.collective, bytes, value.group_size});
    else
      note_use(instruction, i, value, bytes, callee);
  }
}

std::vector<std::size_t> SliceTracker::scattered() const {
  std::vector<std::size_t> collectives;
  for (const auto& [collective, uses] : uses_)
    if (uses.slices > 0 && uses.others == 0) collectives.push_back(collective);
  return collectives;
}

}  // namespace shardplan
