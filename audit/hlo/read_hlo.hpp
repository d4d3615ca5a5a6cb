#pragma once
// HLO text, as compiled.as_text() or an XLA dump has it → what of it communicates. One pass; memory is that of the
// computations that communicate, and the names of the others.
#include <audit/hlo/hlo_program.hpp>
#include <audit/hlo/text_lines.hpp>

namespace shardplan {

/// Throws InputError with file and line on anything that is not HLO text, on a text that ends early, and on a
/// collective that isn't understood: never half a program.
HloProgram read_hlo(TextLines lines);

/// A file, plain or gzipped, or a dump folder: the one module in it after all optimizations. Throws InputError when the
/// folder has none, or several.
HloProgram read_hlo_file(const std::string& path);

}  // namespace shardplan
