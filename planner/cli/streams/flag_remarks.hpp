#pragma once
// What is said on standard error of XLA flags that the figures don't have, where an answer has no place for them: plan and
// explain list flags.
#include <planner/cli/task.hpp>
#include <shardplan/compiler/compiler.hpp>
#include <shardplan/plan.hpp>
#include <string_view>

namespace shardplan {

class FlagRemarks {
 public:
  /// Flags that `compiler` is given for `machine`.
  void add(std::string_view machine, const Compiler& compiler);
  void add(const PlanRequest& request);

  /// A line a flag that is unknown, not modelled or another compiler's, with the machines that it is so for; empty: none is.
  std::string text() const;

 private:
  struct Remark {
    std::string flag;
    FlagEffect effect;
    std::vector<std::string> machines;
  };
  std::vector<Remark> remarks_;
};

}  // namespace shardplan
