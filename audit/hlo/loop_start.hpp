#pragma once
// Where the counters of loops start: integer constants of one computation, their copies, and the tuples that loops take.
#include <audit/hlo/hlo_instruction.hpp>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace shardplan {

class LoopStart {
 public:
  void begin();  ///< another computation
  void see(const HloInstruction& instruction);

  /// What element `counter` of the tuple that the loop takes is; empty unless it is a constant of this computation.
  std::optional<std::int64_t> of(const HloInstruction& loop, std::size_t counter) const;

 private:
  std::unordered_map<std::string, std::int64_t> constants_;
  std::unordered_map<std::string, std::string> copies_;
  std::unordered_map<std::string, std::vector<std::string>> tuples_;
};

}  // namespace shardplan
