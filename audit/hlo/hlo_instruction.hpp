#pragma once
// One line of a computation:
//   ROOT %all-gather.5 = bf16[8,4096]{1,0} all-gather(%param.1), replica_groups=[1,8]<=[8], metadata={op_name="…"}
// Only name, shape and opcode are looked at first; operands and attributes when somebody asks.
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace shardplan {

struct HloInstruction {
  std::string_view name;   ///< without %
  std::string_view shape;  ///< as written
  std::string_view opcode;
  std::string_view rest;  ///< behind the parenthesis that opens the operands
  bool root = false;
};

/// "all-gather-start" is all-gather, which starts.
struct Opcode {
  std::string_view base;
  bool starts = false;  ///< the first half of an asynchronous pair; the second half says nothing new
};
Opcode split_opcode(std::string_view opcode);

/// Empty: not an instruction.
std::optional<HloInstruction> parse_instruction(std::string_view line);

/// Names of the operands, without % and shapes; what a constant or parameter has there, as written. Empty when the list
/// has no end.
std::optional<std::vector<std::string_view>> operands_of(const HloInstruction& instruction);

/// The value of an attribute that says what the instruction does ("calls", "replica_groups"); empty when it has none.
std::optional<std::string_view> attribute_of(const HloInstruction& instruction, std::string_view key);

/// op_name of its metadata, unescaped; empty when it has none.
std::string op_name_of(const HloInstruction& instruction);

/// "%region_1.2" → "region_1.2"
std::string_view without_percent(std::string_view name);

/// A whole number and nothing else.
std::optional<std::int64_t> parse_integer(std::string_view text);

}  // namespace shardplan
