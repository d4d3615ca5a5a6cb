#include <cost_models/layouts/stacked_layers.hpp>
#include <cost_models/partition/recorder.hpp>
#include <shardplan/error.hpp>

namespace shardplan {
namespace {

BlockId id_of(const Block& block, const Program& program) {
  for (std::size_t i = 0; i < program.blocks.size(); ++i)
    if (&program.blocks[i] == &block) return static_cast<BlockId>(i);
  throw InternalError("block '" + block.name + "' is not of the program");
}

std::int64_t runs_of_count(RunCount count, const Block& block, const PipelineShape& pipeline) {
  switch (count) {
    case RunCount::once:
      return 1;
    case RunCount::body:
      return block.executions;
    case RunCount::behind_first:
      return block.executions - block.executions / block.layers * (block.layers / block.layers_per_cycle);
    case RunCount::each_layer:
      return layers_on_device(block, pipeline);
    case RunCount::gathers:
      return block.weights.gathers;
    case RunCount::backward_gathers:
      return block.weights.backward_gathers;
    case RunCount::reductions:
      return block.weights.reductions;
    case RunCount::whole_reductions:
      return block.weights.whole_reductions;
    case RunCount::each_repeat:
      return block.weights.reductions / pipeline.repeats * pipeline.repeats;
    case RunCount::each_repeat_and_drained:
      return block.weights.reductions / pipeline.repeats * (pipeline.repeats + 1);
  }
  throw InternalError("unknown RunCount");
}

}  // namespace

std::int64_t runs_of(const Runs& runs, const Block& block, const PipelineShape& pipeline) {
  return runs_of_count(runs.count, block, pipeline) * runs.times;
}

bool runs_alike(const Block& a, const Block& b) {
  const auto alike = [](std::int64_t of_a, std::int64_t of_b) { return (of_a > 0) == (of_b > 0); };
  return alike(a.executions, b.executions) && alike(a.weights.gathers, b.weights.gathers) &&
         alike(a.weights.backward_gathers, b.weights.backward_gathers) &&
         alike(a.weights.reductions, b.weights.reductions) &&
         alike(a.weights.whole_reductions, b.weights.whole_reductions);
}

Recorder::Recorder(const Program& program, const Block& block, const Mesh& mesh)
    : program_(program), block_(id_of(block, program)), mesh_(mesh) {
  collectives_.reserve(2 * block.operations.size());
}

bool Recorder::record(Phase phase, const Move& move, const Origin& origin, std::int64_t executions) {
  const std::int64_t group = mesh_.group_size(move.axes, move.span);
  if (group <= 1 || move.bytes.value <= 0 || executions <= 0) return false;
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
  return true;
}

void Recorder::record(Phase phase, const Move& move, const Origin& origin, const Runs& runs) {
  if (record(phase, move, origin, runs_of(runs, program_.blocks[block_], program_.pipeline))) counts_.push_back(runs);
}

void Recorder::record_all(Phase phase, const Moves& moves, const Origin& origin, const Runs& runs) {
  for (const auto& move : moves) record(phase, move, origin, runs);
}

}  // namespace shardplan
