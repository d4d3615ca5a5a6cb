#pragma once
// Scheduled programs of a few lines, with seconds as the test gives them.
#include <audit/timeline/schedule_reader.hpp>
#include <audit/timeline/walk_schedule.hpp>
#include <map>
#include <tests/unit/audit/small_programs.hpp>

namespace shardplan {

/// `computations` (each "%name (p: f32[8]) -> f32[8] {\n…\n}\n") in front of the ENTRY computation of `instructions`, on 8
/// devices.
inline std::string scheduled_text(const std::string& instructions, const std::string& computations = "") {
  return "HloModule jit_train_step, is_scheduled=true, num_partitions=8\n\n" + computations +
         "ENTRY %main (p: f32[8]) -> f32[8] {\n  %p = f32[8]{0} parameter(0)\n" + instructions +
         "  ROOT %end = f32[8]{0} bitcast(%p)\n}\n";
}

inline std::string body_text(const std::string& name, const std::string& instructions) {
  return "%" + name + " (p: f32[8]) -> f32[8] {\n  %p = f32[8]{0} parameter(0)\n" + instructions +
         "  ROOT %r." + name + " = f32[8]{0} bitcast(%p)\n}\n\n";
}

inline ScheduledProgram scheduled(const std::string& text) {
  ScheduleReader reader;
  ScheduledProgram read{read_hlo(lines_of(text), &reader), {}};
  read.schedule = reader.finish(read.program);
  return read;
}

/// Seconds of kernels and collectives, by name.
using NamedSeconds = std::map<std::string, double>;

inline Timeline walked(const std::string& text, const NamedSeconds& seconds, const OpenRules& rules = {},
                       double collective_processors = 0) {
  const auto [program, schedule] = scheduled(text);
  const auto of = [&](const std::string& name) {
    const auto found = seconds.find(name);
    return Seconds{found == seconds.end() ? 0 : found->second};
  };
  StepPrices prices;
  prices.collective_processors = collective_processors;
  for (const auto& steps : schedule.computations) {
    auto& kernels = prices.kernels.emplace_back();
    for (const auto& step : steps) kernels.push_back(of(step.name));
  }
  for (const auto& computation : program.computations) {
    auto& collectives = prices.collectives.emplace_back();
    for (const auto& found : computation.collectives) collectives.push_back(of(found.name));
  }
  return trace(program, schedule, prices, rules);
}

inline const std::string groups = ", replica_groups={{0,1,2,3,4,5,6,7}}";
/// `operand` gathered under `name`, in halves.
inline std::string gather_start(const std::string& name, const std::string& operand = "p") {
  return "  %" + name + " = (f32[8]{0}, f32[64]{0}) all-gather-start(%" + operand + ")" + groups + ", dimensions={0}\n";
}
inline std::string gather_done(const std::string& name) {
  return "  %" + name + ".done = f32[64]{0} all-gather-done(%" + name + ")\n";
}
/// Whole; `settled`: as XLA:GPU writes one that it has made synchronous.
inline std::string whole_gather(const std::string& name, bool settled, const std::string& operand = "p") {
  return "  %" + name + " = f32[64]{0} all-gather(%" + operand + ")" + groups + ", dimensions={0}" +
         (settled ? ", backend_config={\"collective_backend_config\":{\"is_sync\":true}}\n" : "\n");
}
inline std::string kernel(const std::string& name, const std::string& operand = "p") {
  return "  %" + name + " = f32[8]{0} negate(%" + operand + ")\n";
}
/// [8]·[8]: a product of the matrix unit, with which a compiler can fuse a collective.
inline std::string product(const std::string& name, const std::string& left = "p", const std::string& right = "p") {
  return "  %" + name + " = f32[] dot(%" + left + ", %" + right +
         "), lhs_contracting_dims={0}, rhs_contracting_dims={0}\n";
}

}  // namespace shardplan
