#pragma once
// HLO text, as compiled.as_text() or an XLA dump has it → what of it communicates. One pass; memory is that of the
// computations that communicate, and the names of the others.
#include <audit/hlo/hlo_instruction.hpp>
#include <audit/hlo/hlo_program.hpp>
#include <audit/hlo/text_lines.hpp>

namespace shardplan {

/// An instruction that is read, with what of it was understood.
struct SeenInstruction {
  const HloInstruction& instruction;
  std::optional<std::size_t> collective;  ///< its place in the computation's collectives
  std::optional<std::int64_t> trips;      ///< of a loop, as the compiler recorded them
  const TextLines& lines;                 ///< at its (first) line
};

/// Sees every instruction of a text, in order.
class InstructionObserver {
 public:
  virtual ~InstructionObserver() = default;
  /// What follows is of this one of the program's computations; those that it calls have gone before.
  virtual void begin(std::size_t computation, std::string_view name) = 0;
  virtual void see(const SeenInstruction& seen) = 0;
  /// A line of the metadata that a hand-written kernel carries: of the instruction that was seen last.
  virtual void see_metadata(std::string_view) {}
};

/// Throws InputError with file and line on anything that is not HLO text, on a text that ends early, and on a
/// collective that isn't understood: never half a program.
HloProgram read_hlo(TextLines lines, InstructionObserver* observer = nullptr);

/// A file, plain or gzipped, or a dump folder: the one module in it after all optimizations. Throws InputError when the
/// folder has none, or several.
HloProgram read_hlo_file(const std::string& path, InstructionObserver* observer = nullptr);

}  // namespace shardplan
