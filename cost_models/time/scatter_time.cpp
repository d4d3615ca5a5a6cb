#include <cost_models/time/clock_share.hpp>
#include <cost_models/time/scatter_time.hpp>

namespace shardplan {
namespace {

constexpr std::int64_t word = 4;  // bytes; of halves, too, while they are worked on

bool is_in_vmem(const Scatter& scatter, const ScatterCycles& cycles, const Compiler& compiler) {
  const Bytes vmem = compiler.setting(CompilerSetting::scoped_vmem_limit).value_or(cycles.vmem);
  return scatter.elements * static_cast<double>(word) < static_cast<double>(vmem.value);
}

}  // namespace

ScatterTime operator+(const ScatterTime& a, const ScatterTime& b) {
  return {a.expected + b.expected, a.at_least + b.at_least};
}

// 1M halves into a larger result than VMEM holds, at 28 cycles and 2 GHz: 14 ms.
ScatterTime scatter_time(const Scatter& scatter, const HardwareProfile& hardware, const Compiler& compiler) {
  if (scatter.updates == 0 || !compiler.scatter_cycles || !hardware.clock) return {};
  const ScatterCycles& all = *compiler.scatter_cycles;
  const ScatterCycles::Of& cycles = scatter.size < word ? all.halves : all.words;
  const Seconds cycle = at_clock_of(hardware, compiler, {1 / hardware.clock->value});
  const Seconds least = cycle * (scatter.updates * cycles.in_vmem);
  return {is_in_vmem(scatter, all, compiler) ? least : cycle * (scatter.updates * cycles.sorted), least};
}

ScatterTime forward_scatter_time(const OperationWork& work, const HardwareProfile& hardware, const Compiler& compiler) {
  ScatterTime forward;
  for (const Scatter& scatter : work.scatters_forward) forward = forward + scatter_time(scatter, hardware, compiler);
  return forward;
}

ScatterTime scatter_time(const OperationWork& work, const HardwareProfile& hardware, const Compiler& compiler) {
  return forward_scatter_time(work, hardware, compiler) + scatter_time(work.scatter_backward, hardware, compiler);
}

}  // namespace shardplan
