#include <cost_models/partition/recorder.hpp>
#include <shardplan/error.hpp>

namespace shardplan {
namespace {

BlockId id_of(const Block& block, const Program& program) {
  for (std::size_t i = 0; i < program.blocks.size(); ++i)
    if (&program.blocks[i] == &block) return static_cast<BlockId>(i);
  throw InternalError("block '" + block.name + "' is not of the program");
}

}  // namespace

Recorder::Recorder(const Program& program, const Block& block, const Mesh& mesh)
    : block_(id_of(block, program)), mesh_(mesh) {
  collectives_.reserve(2 * block.operations.size());
}

void Recorder::record(Phase phase, const Move& move, const Origin& origin, std::int64_t executions) {
  const std::int64_t group = mesh_.group_size(move.axes, move.span);
  if (group <= 1 || move.bytes.value <= 0 || executions <= 0) return;
  Collective collective;
  collective.phase = phase;
  collective.kind = move.kind;
  collective.axes = move.axes;
  collective.span = move.span;
  collective.group_size = group;
  collective.bytes = move.bytes;
  collective.executions = executions;
  collective.parameter = move.parameter;
  collective.block = block_;
  collective.operation = origin.operation;
  collective.tensor = origin.tensor;
  collective.cause = origin.cause;
  collective.from = origin.from;
  collective.to = origin.to;
  collectives_.push_back(std::move(collective));
}

void Recorder::record_all(Phase phase, const Moves& moves, const Origin& origin, std::int64_t executions) {
  for (const auto& move : moves) record(phase, move, origin, executions);
}

}  // namespace shardplan
