#include <fmt/format.h>

#include <algorithm>
#include <audit/hlo/op_name.hpp>
#include <audit/program_traffic.hpp>
#include <map>
#include <shardplan/error.hpp>
#include <tuple>

namespace shardplan {
namespace {

/// Where a computation runs from: the nearest caller's name in JAX, for collectives that have none of their own, and
/// the innermost loop.
struct Context {
  std::string op_name, loop;
  auto operator<=>(const Context&) const = default;
};

using Runs = std::map<Context, std::int64_t>;  ///< how often, by context

class TrafficCounter {
 public:
  TrafficCounter(const HloProgram& program, const Mesh& mesh) : program_(program), mesh_(mesh) {
    for (const auto& groups : program.groups) group_axes_.push_back(axes_of(groups, mesh));
  }

  ProgramTraffic count() {
    states_.resize(program_.computations.size(), State::unseen);
    weights_.resize(program_.computations.size());
    order_from(program_.entry, 0);
    std::vector<Runs> runs(program_.computations.size());
    runs[program_.entry][{}] = 1;
    for (auto at = callees_first_.rbegin(); at != callees_first_.rend(); ++at) run(*at, runs);
    return collect();
  }

 private:
  enum class State { unseen, open, done };

  [[noreturn]] void fail(std::int64_t line, const std::string& what) const {
    throw InputError(fmt::format("{}:{}: {}", program_.source, line, what));
  }

  std::int64_t trips_of(const HloCall& call) const {
    if (call.kind != CallKind::loop) return 1;
    if (call.trips) return *call.trips;
    const auto& condition = program_.computations[call.condition];
    if (condition.trips) return *condition.trips;
    fail(call.line,
         fmt::format("loop {} communicates, but how often it runs is neither recorded (known_trip_count) nor "
                     "a comparison with a constant in its condition {}",
                     call.name, condition.name));
  }

  /// Depth first; also the bytes of one run, by which the heaviest branch is chosen.
  void order_from(std::size_t index, int depth) {
    const auto& computation = program_.computations[index];
    if (states_[index] == State::done) return;
    if (states_[index] == State::open || depth > 10000)
      throw InputError(fmt::format("{}: computation {} calls itself", program_.source, computation.name));
    states_[index] = State::open;
    for (const auto& collective : computation.collectives)
      weights_[index] += static_cast<double>(collective.bytes.value);
    for (const auto& call : computation.calls) {
      order_from(call.callee, depth + 1);
      weights_[index] += weights_[call.callee] * static_cast<double>(trips_if_needed(call));
    }
    states_[index] = State::done;
    callees_first_.push_back(index);
  }

  std::int64_t trips_if_needed(const HloCall& call) const { return weights_[call.callee] > 0 ? trips_of(call) : 0; }

  void run(std::size_t index, std::vector<Runs>& runs) {
    const auto& computation = program_.computations[index];
    for (const auto& [context, times] : runs[index])
      for (const auto& collective : computation.collectives) add(collective, context, times);
    for (const auto& call : computation.calls) {
      if (weights_[call.callee] == 0 || is_lighter_branch(call, computation)) continue;
      for (const auto& [context, times] : runs[index]) {
        std::int64_t inner = 0;
        auto& sum = runs[call.callee][context_inside(call, context)];
        if (__builtin_mul_overflow(times, trips_of(call), &inner) || __builtin_add_overflow(sum, inner, &sum))
          fail(call.line, fmt::format("{} runs more than 2^63 times", call.name));
      }
    }
  }

  static Context context_inside(const HloCall& call, const Context& outside) {
    return {call.op_name.empty() ? outside.op_name : call.op_name,
            call.kind == CallKind::loop ? call.name : outside.loop};
  }

  // One branch of a conditional runs; the heaviest one is counted.
  bool is_lighter_branch(const HloCall& call, const HloComputation& computation) const {
    if (call.kind != CallKind::branch) return false;
    for (const auto& other : computation.calls) {
      if (other.kind != CallKind::branch || other.name != call.name || &other == &call) continue;
      const bool tie = weights_[other.callee] == weights_[call.callee];
      if (tie ? &other < &call : weights_[other.callee] > weights_[call.callee]) return true;
    }
    return false;
  }

  void add(const HloCollective& found, const Context& context, std::int64_t times) {
    if (times == 0) return;
    const std::string& op_name = found.op_name.empty() ? context.op_name : found.op_name;
    const GroupAxes& group = group_axes_[found.groups];
    ProgramCollective entry{{}, found.shape, group.fit, found.ring, found.scattered, found.rematerialized};
    NamedCollective& c = entry.collective;
    static_cast<Collective&>(c) = collective_of(program_, found, group, mesh_);
    c.phase = phase_of(op_name);
    c.op = source_operation(op_name);
    for (const CombinedPart& part : found.parts) {
      const std::string& name = part.op_name.empty() ? op_name : part.op_name;
      entry.parts.push_back({source_operation(name), phase_of(name), part.shape, part.bytes});
    }
    c.why = why(found, context);
    auto [place, is_new] = merged_.try_emplace(
        {c.phase, c.kind, c.axes, c.group_size, c.bytes.value, c.op, entry.fit, entry.ring, entry.scattered,
         entry.rematerialized, entry.parts},
        entry);
    if (is_new) place->second.collective.executions = 0;
    auto& sum = place->second.collective.executions;
    std::int64_t bytes = 0;
    if (__builtin_add_overflow(sum, times, &sum) || __builtin_mul_overflow(c.bytes.value, sum, &bytes))
      throw InputError(fmt::format("{}: {} moves more than 2^63 bytes a step", program_.source, found.name));
  }

  static std::string why(const HloCollective& found, const Context& context) {
    if (context.loop.empty()) return fmt::format("instruction {}", found.name);
    return fmt::format("instruction {} in loop {}", found.name, context.loop);
  }

  ProgramTraffic collect() {
    ProgramTraffic traffic{program_.source, mesh_, {}};
    for (auto& [key, entry] : merged_) traffic.collectives.push_back(std::move(entry));
    std::stable_sort(traffic.collectives.begin(), traffic.collectives.end(), [](const auto& a, const auto& b) {
      const auto weight = [](const Collective& c) {
        return static_cast<double>(c.bytes.value) * static_cast<double>(c.executions);
      };
      return std::tuple(a.collective.phase, -weight(a.collective)) <
             std::tuple(b.collective.phase, -weight(b.collective));
    });
    return traffic;
  }

  using Key = std::tuple<Phase, CollectiveKind, AxisList, std::int64_t, std::int64_t, std::string, GroupFit, RingOf,
                         bool, bool, std::vector<CollectivePart>>;

  const HloProgram& program_;
  const Mesh& mesh_;
  std::vector<GroupAxes> group_axes_;
  std::vector<State> states_;
  std::vector<double> weights_;
  std::vector<std::size_t> callees_first_;
  std::map<Key, ProgramCollective> merged_;
};

}  // namespace

Collective collective_of(const HloProgram& program, const HloCollective& found, const GroupAxes& group,
                         const Mesh& mesh) {
  Collective c;
  c.cause = Cause::read_from_program;
  c.phase = phase_of(found.op_name);
  c.kind = found.kind;
  c.axes = group.axes;
  const auto& groups = program.groups[found.groups];
  c.group_size = groups.pairs ? mesh.product(group.axes) : static_cast<std::int64_t>(groups.groups[0].size());
  c.bytes = found.bytes;
  return c;
}

ProgramTraffic count_traffic(const HloProgram& program, const Mesh& mesh) {
  if (mesh.devices() != program.devices)
    throw InputError(fmt::format("{}: compiled for {} devices, but mesh {} has {}", program.source, program.devices,
                                 describe(mesh), mesh.devices()));
  return TrafficCounter(program, mesh).count();
}

Mesh mesh_of_program(const HloProgram& program) {
  if (program.meshes.size() == 1) return program.meshes[0];
  throw InputError(fmt::format("{}: the program {}; give its mesh as KEY=VALUE arguments or --mesh axis=n,…",
                               program.source, program.meshes.empty() ? "names no mesh" : "names several meshes"));
}

}  // namespace shardplan
