#include <algorithm>
#include <cost_models/operations/attention/splash_loops.hpp>
#include <cost_models/time/splash_time.hpp>
#include <models/programs/train_program.hpp>
#include <planner/evaluate/fastest_blocks.hpp>
#include <utility>

namespace shardplan {
namespace {

/// Attention of one layer on its whole heads.
struct LayersAttention {
  SplashOperands operands;
  double layers = 0;
};

std::vector<LayersAttention> attention_of(const Configuration& c) {
  const std::int64_t sequence = c.config.max_target_length;
  const Program program = reference_program(c.model, sequence);
  std::vector<LayersAttention> all;
  for (const Block& block : program.blocks)
    for (const Operation& op : block.operations) {
      if (op.kind != OpKind::attention || op.pooled_keys > 0) continue;
      const Tensor& query = block.tensors[op.inputs[0]];
      const std::int64_t query_width = query.dims.back().size, value_width = block.tensors[op.inputs[2]].dims.back().size;
      const double heads = static_cast<double>(elements_of(query)) / static_cast<double>(query_width * sequence);
      all.push_back({{sequence, sequence, op.attention_window, query_width, value_width, heads},
                     static_cast<double>(block.layers)});
    }
  return all;
}

Seconds seconds_of(const std::vector<LayersAttention>& attention, const TrainConfig& config,
                   const HardwareProfile& hardware) {
  Seconds all{};
  for (const LayersAttention& one : attention) {
    const SplashLoops loops = splash_loops(one.operands, config);
    all += (splash_time(loops.forward, hardware) + splash_time(loops.backward, hardware)) * one.layers;
  }
  return all;
}

}  // namespace

std::vector<SplashBlocks> fastest_splash_blocks(const Configuration& c) {
  if (!c.hardware.splash) return {};
  std::vector<SplashBlocks> blocks = splash_blocks_of(c.config, c.compiler, c.model);
  if (blocks.empty()) return blocks;
  const std::vector<LayersAttention> attention = attention_of(c);
  std::vector<std::pair<Seconds, SplashBlocks>> timed;
  for (const SplashBlocks& one : blocks)
    timed.emplace_back(seconds_of(attention, with_splash_blocks(c.config, one), c.hardware), one);
  std::stable_sort(timed.begin(), timed.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
  std::transform(timed.begin(), timed.end(), blocks.begin(), [](const auto& one) { return one.second; });
  return blocks;
}

}  // namespace shardplan
