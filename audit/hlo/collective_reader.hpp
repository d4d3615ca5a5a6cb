#pragma once
// The collectives among the instructions of a computation: what each moves, and between which devices.
#include <audit/hlo/group_table.hpp>
#include <audit/hlo/hlo_instruction.hpp>
#include <audit/hlo/hlo_program.hpp>
#include <audit/hlo/text_lines.hpp>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

namespace shardplan {

/// Whether an instruction of that opcode moves data between devices, or starts to.
bool is_collective(std::string_view opcode);

class CollectiveReader {
 public:
  CollectiveReader(const TextLines& lines, GroupTable& groups) : lines_(lines), groups_(groups) {}

  /// What follows is of the computation of that name.
  void begin(std::string_view computation);
  /// The next instruction, a collective or not: the bytes of its result, 0 for a tuple.
  std::int64_t see(const HloInstruction& instruction);
  /// A collective (is_collective); empty where nothing moves.
  std::optional<HloCollective> read(const HloInstruction& instruction);

 private:
  struct Shaped {
    std::size_t name_hash;
    std::int64_t bytes;
  };

  std::optional<HloCollective> read_collective(const HloInstruction& instruction, Opcode opcode, CollectiveKind kind);
  std::optional<HloCollective> read_send(const HloInstruction& instruction);
  std::vector<CombinedPart> parts_of(const HloInstruction& instruction, const std::string& op_name, CollectiveKind kind,
                                     std::string_view shape, std::int64_t group_size) const;
  std::size_t groups_of(std::string_view key, const HloInstruction& instruction);
  std::int64_t bytes_of(std::string_view shape) const;
  std::int64_t bytes_of_operand(const HloInstruction& instruction) const;
  std::int64_t moved_bytes(const HloInstruction& instruction, CollectiveKind kind, std::int64_t result,
                           std::int64_t group_size) const;

  const TextLines& lines_;
  GroupTable& groups_;
  std::vector<Shaped> shaped_;  ///< instructions of the computation that are arrays
  RingOf ring_ = RingOf::nothing;
  bool fuses_a_slice_ = false;
};

}  // namespace shardplan
