#pragma once
// How often a loop runs, from the text of its condition "counter < 32". JAX's scans, fori_loops of constant bounds and
// the loops that XLA makes itself count by 1: from 0, or from 1 where XLA has peeled the first trip off (host offload).
#include <audit/hlo/hlo_instruction.hpp>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace shardplan {

struct LoopBound {
  std::int64_t trips = 0;               ///< of a counter that starts at 0
  std::optional<std::size_t> counter;  ///< which element of the loop's tuple it is
};

/// What a small computation with a truth value as its result consists of.
class LoopCondition {
 public:
  void add(const HloInstruction& instruction);

  /// Empty when the condition is anything else than a comparison of the counter with a constant, directly or
  /// inside one fusion. `find` gives the condition of a called computation.
  std::optional<LoopBound> bound(const std::function<const LoopCondition*(const std::string&)>& find) const;

 private:
  struct Step {
    std::string name, opcode, direction, callee;
    std::vector<std::string> operands;
    std::optional<std::int64_t> index;  ///< of a tuple's element
  };
  const Step* find_step(const std::string& name) const;
  const Step* through_copies(const std::string& name) const;
  static std::optional<std::string> argument_of(const Step& parameter, const Step& call);
  /// An integer constant, or the argument of a caller that passes one; likewise an element of the loop's tuple.
  std::optional<std::int64_t> constant(const std::string& name, const LoopCondition* caller, const Step* call) const;
  std::optional<std::size_t> element(const std::string& name, const LoopCondition* caller, const Step* call) const;
  std::optional<LoopBound> bound_of(const Step& step, const LoopCondition* caller, const Step* call) const;

  std::vector<Step> steps_;
  std::string root_;
};

}  // namespace shardplan
