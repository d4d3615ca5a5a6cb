#pragma once
// HLO text → its schedule: keeps every instruction that it sees, and what those of fused computations come to.
#include <audit/hlo/read_hlo.hpp>
#include <audit/timeline/kernels/custom_kernels.hpp>
#include <audit/timeline/memory_access.hpp>
#include <audit/timeline/hlo_schedule.hpp>
#include <string_view>
#include <unordered_map>

namespace shardplan {

class ScheduleReader final : public InstructionObserver {
 public:
  void begin(std::size_t computation, std::string_view name) override;
  void see(const SeenInstruction& seen) override;
  void see_metadata(std::string_view line) override;
  /// Of the program that was read. Throws InputError when its instructions aren't in the order in which they run.
  HloSchedule finish(const HloProgram& program);

 private:
  /// What is known of a computation beside its steps.
  struct Known {
    std::vector<AccessingOperation> operations;
    std::vector<ArrayShape> shapes;                      ///< of results; of tuples no dims
    std::unordered_map<std::string, std::size_t> steps;  ///< by name
    std::unordered_map<std::size_t, std::string> tuples;  ///< shapes of the steps that make one
    std::size_t root = 0;
    bool communicates = false;  ///< it, or what it calls
    bool reorders = false;      ///< likewise: sorts, gathers or scatters
    std::optional<MemoryAccess> access;
  };
  struct Loop {
    std::size_t computation, step, condition;
  };

  std::size_t callee_of(const SeenInstruction& seen, std::string_view key) const;
  std::vector<std::size_t> callees_in(const SeenInstruction& seen, std::string_view key) const;
  void note_result(const SeenInstruction& seen, const HloStep& step);
  std::vector<std::size_t> operand_steps(const SeenInstruction& seen);
  /// Of "fusion.3#1", a tuple's element by itself: a step of its own, as get-tuple-element is. Empty: there is no such
  /// tuple.
  std::optional<std::size_t> element_step(std::string_view name);
  std::size_t append(HloStep step);
  void classify(const SeenInstruction& seen, HloStep& step);
  bool classify_asynchronous(const SeenInstruction& seen, HloStep& step);
  void classify_loop(const SeenInstruction& seen, HloStep& step);
  void classify_fusion(const SeenInstruction& seen, HloStep& step, std::size_t callee);
  void classify_custom_call(const SeenInstruction& seen, HloStep& step);
  void add_kernel(const SeenInstruction& seen, HloStep& step);
  void note_exchange(const HloStep& step);
  std::vector<ArrayShape> operand_shapes(const HloStep& step) const;
  const MemoryAccess& access_of(std::size_t computation);

  HloSchedule schedule_;
  std::vector<Known> known_;                               ///< by computation
  std::unordered_map<std::string, std::size_t> computations_;  ///< by name
  std::vector<Loop> loops_;
  std::size_t computation_ = 0;
};

/// A program with its schedule.
struct ScheduledProgram {
  HloProgram program;
  HloSchedule schedule;
};

/// read_hlo_file, and the schedule. Throws InputError likewise, and when the program isn't scheduled.
ScheduledProgram read_scheduled_file(const std::string& path);

}  // namespace shardplan
