#pragma once
// Compilers by name (compiled in from compilers/*.json) or from a user's file of the same format (docs/compilers.md).
#include <compilers/compiler_flags.hpp>
#include <map>
#include <shardplan/compiler/compiler.hpp>
#include <shardplan/machine/hardware.hpp>
#include <string>
#include <string_view>
#include <vector>

namespace shardplan {

/// Why a compiler is said to have a habit, or not to.
struct Evidence {
  std::string source;
  std::vector<std::string> records;  ///< ids of recorded programs that show it
};

/// A compiler with what its file says for readers.
struct DescribedCompiler {
  Compiler compiler;
  std::string description;
  std::map<Habit, Evidence> evidence;        ///< of every habit
  FlagTable flags;                           ///< what XLA's flags change
};

std::vector<std::string> compiler_names();

/// A built-in compiler; anything that has a '/' or ends in ".json" is the path of a file instead.
/// Throws InputError naming file, key and what was expected.
Compiler load_compiler(const std::string& name_or_path);
/// As XLA's flags make it (compiler_flags.hpp).
Compiler load_compiler(const std::string& name_or_path, std::string_view xla_flags);
/// That of a machine, which errors name.
Compiler compiler_of(const HardwareProfile& machine, std::string_view xla_flags);
DescribedCompiler describe_compiler(const std::string& name_or_path);

/// A compiler from its text; `file` names it in errors. What it is `like` is looked up among the built-in ones.
DescribedCompiler parse_compiler(std::string_view text, const std::string& file);

}  // namespace shardplan
