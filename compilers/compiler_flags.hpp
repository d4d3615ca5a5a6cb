#pragma once
// XLA's flags as a run gives them (MaxText's compile_xla_flags, --xla-flags): "--NAME=VALUE --NAME …", and what a
// compiler's file says that each does.
#include <map>
#include <optional>
#include <shardplan/compiler/compiler.hpp>
#include <string>
#include <string_view>
#include <vector>

namespace shardplan {

/// A row of a compiler's table of flags.
struct KnownFlag {
  FlagEffect effect = FlagEffect::none;  ///< of any other value than its default; never `unknown`
  std::string does, source;
  std::optional<std::string> default_value;  ///< as XLA has it; empty where it isn't known
  std::optional<std::int64_t> at_least;      ///< modelled: smaller values do too little to count, or aren't known
  std::optional<std::int64_t> at_most;       ///< of a number: the compiler takes none above
  std::map<Habit, bool> switches;            ///< modelled: which habits the compiler then has
  std::optional<CompilerSetting> sets;       ///< modelled: what its value is the number of,
  Bytes unit{1};                             ///< of so many bytes
  bool sets_power_state = false;             ///< modelled: its value is the number of a state of the machine's
  std::optional<HostCopies> host_copies;       ///< modelled: what of them the compiler then hides
  std::optional<bool> window_covers_gather;  ///< modelled: whether it then has so wide windows
  std::vector<CollectiveKind> asynchronous;  ///< modelled: what it makes asynchronous, or not
  std::vector<CollectiveKind> pipelined;     ///< modelled: what it moves by an iteration, or not
  std::optional<std::string> needs;          ///< a flag that has to be on beside it: the compiler stops without
  bool takes_number() const { return sets || at_least || sets_power_state; }
  bool changes_something() const {
    return !switches.empty() || sets || sets_power_state || host_copies || window_covers_gather ||
           !asynchronous.empty() || !pipelined.empty();
  }
};

using FlagTable = std::map<std::string, KnownFlag>;

/// "--NAME=VALUE", or "--NAME" for true. Throws InputError on a word that is no flag, and on a flag that is plainly a
/// misspelled one of the table. `foreign`: Compiler::foreign_flags.
CompilerFlag read_flag(const std::string& word, const FlagTable& table, const std::vector<std::string>& foreign = {});

/// In place of a flag: all that the compiler's file offers.
inline constexpr std::string_view recipe_flags = "recipe";
/// In place of all flags: XLA's defaults, as an empty text says too.
inline constexpr std::string_view no_flags = "none";

/// `compiler` as these flags make it; a flag that is given twice has its last value, as in XLA. Throws InputError as
/// read_flag does.
Compiler with_flags(const Compiler& compiler, const FlagTable& table, std::string_view flags);

}  // namespace shardplan
