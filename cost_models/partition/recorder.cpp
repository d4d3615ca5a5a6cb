#include <cost_models/partition/recorder.hpp>

namespace shardplan {

void Recorder::record(Phase phase, const Move& move, std::string_view op, std::string why, std::int64_t executions) {
  const std::int64_t group = mesh_.product(move.axes);
  if (group <= 1 || move.bytes.value <= 0 || executions <= 0) return;
  Collective collective;
  collective.phase = phase;
  collective.kind = move.kind;
  collective.axes = move.axes;
  collective.group_size = group;
  collective.bytes = move.bytes;
  collective.executions = executions;
  collective.op.append(block_.name).append("/").append(op);
  collective.why = std::move(why);
  collective.parameter = move.parameter;
  collectives_.push_back(std::move(collective));
}

void Recorder::record_all(Phase phase, const std::vector<Move>& moves, std::string_view op, const std::string& why,
                          std::int64_t executions) {
  for (const auto& move : moves) record(phase, move, op, why, executions);
}

std::string Recorder::axis_names(const AxisList& axes) const {
  std::string text;
  for (const AxisId axis : axes) text.append(text.empty() ? "" : "+").append(mesh_.axes[axis].name);
  return text;
}

}  // namespace shardplan
