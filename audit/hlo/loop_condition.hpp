#pragma once
// How often a loop runs, from the text of its condition "counter < 32". JAX's scans, fori_loops of constant bounds and
// the loops that XLA makes itself count from 0 by 1, so the bound is the number of trips.
#include <audit/hlo/hlo_instruction.hpp>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace shardplan {

/// What a small computation with a truth value as its result consists of.
class LoopCondition {
 public:
  void add(const HloInstruction& instruction);

  /// The trips; empty when the condition is anything else than a comparison of the counter with a constant, directly or
  /// inside one fusion. `find` gives the condition of a called computation.
  std::optional<std::int64_t> trips(const std::function<const LoopCondition*(const std::string&)>& find) const;

 private:
  struct Step {
    std::string name, opcode, direction, callee;
    std::vector<std::string> operands;
  };
  const Step* find_step(const std::string& name) const;
  const Step* through_copies(const std::string& name) const;
  /// An integer constant, or the argument of a caller that passes one.
  std::optional<std::int64_t> constant(const std::string& name, const LoopCondition* caller, const Step* call) const;
  std::optional<std::int64_t> trips_of(const Step& step, const LoopCondition* caller, const Step* call) const;

  std::vector<Step> steps_;
  std::string root_;
};

}  // namespace shardplan
