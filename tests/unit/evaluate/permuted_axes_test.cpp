// Where MaxText gives an axis no meaning of its own, its name decides nothing: with the names of some axes permuted in
// rules and mesh alike, the same collectives move over the axes in the same places.
#include <gmock/gmock.h>

#include <rapidcheck/gtest.h>

#include <planner/evaluate/evaluate.hpp>
#include <tuple>

#include "../reading.hpp"

namespace shardplan {
namespace {

/// fsdp, stage, data and expert mean something to MaxText (pipelines, ZeRO-1, the exchange of tokens); these don't.
const std::vector<std::string> free_axes = {"fsdp_transpose", "context", "tensor", "tensor_sequence", "autoregressive"};

using Renaming = std::vector<std::string>;  // free_axes[i] is called Renaming[i]

std::string renamed(const std::string& axis, const Renaming& renaming) {
  const auto found = std::find(free_axes.begin(), free_axes.end(), axis);
  return found == free_axes.end() ? axis : renaming[static_cast<std::size_t>(found - free_axes.begin())];
}

void rename(std::vector<std::string>& axes, const Renaming& renaming) {
  for (auto& axis : axes) axis = renamed(axis, renaming);
}

Configuration renamed(Configuration c, const Renaming& renaming) {
  rename(c.rules.mesh_axes, renaming);
  rename(c.rules.data_sharding, renaming);
  for (auto& rule : c.rules.rules) rename(rule.axes, renaming);
  for (auto& axis : c.mesh.axes) axis.name = renamed(axis.name, renaming);
  return c;
}

auto numbers_of(const Collective& c) {
  return std::tuple(c.phase, c.kind, c.axes, c.group_size, c.bytes.value, c.executions, c.seconds.value, c.cause);
}

std::vector<decltype(numbers_of(Collective{}))> collectives_of(const Evaluation& evaluation) {
  std::vector<decltype(numbers_of(Collective{}))> all;
  for (const auto& collective : evaluation.collectives) all.push_back(numbers_of(collective));
  return all;
}

RC_GTEST_PROP(PermutedAxes, PermuteTheAnswer, ()) {
  static const std::vector<std::string> lines = {
      "model_name=llama2-7b compile_topology=v5p-16 ici_tensor_parallelism=2 ici_context_parallelism=2",
      "model_name=llama2-7b compile_topology=v5p-16 ici_fsdp_transpose_parallelism=2 ici_tensor_parallelism=2",
      "model_name=gemma2-9b compile_topology=v5p-16 ici_tensor_sequence_parallelism=2 ici_context_parallelism=4",
      "model_name=mixtral-8x7b compile_topology=v5p-16 ici_expert_parallelism=2 ici_context_parallelism=2",
      "model_name=deepseek2-16b compile_topology=v5p-32 ici_expert_parallelism=4 ici_tensor_parallelism=4",
  };
  const auto line = *rc::gen::elementOf(lines);
  Renaming renaming = free_axes;
  for (std::size_t i = renaming.size(); i > 1; --i)
    std::swap(renaming[i - 1], renaming[static_cast<std::size_t>(*rc::gen::inRange<int>(0, static_cast<int>(i)))]);
  const Configuration asked = read(line);
  const Evaluation before = evaluate(asked), after = evaluate(renamed(asked, renaming));
  RC_ASSERT(collectives_of(after) == collectives_of(before));
  RC_ASSERT(after.memory.peak().value == before.memory.peak().value);
  RC_ASSERT(after.time.step().value == before.time.step().value);
}

}  // namespace
}  // namespace shardplan
