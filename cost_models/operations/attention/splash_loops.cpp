#include <algorithm>
#include <cost_models/operations/attention/splash_loops.hpp>

namespace shardplan {
namespace {

BlockLoop loop_of(SplashKernel kernel, BlockSizes block, const SplashOperands& operands, SplashLibrary library) {
  block.queries = std::min(block.queries, operands.keys_at_once);
  block.keys = std::min(block.keys, operands.keys_at_once);
  BlockLoop loop = block_loop(library, kernel, operands.sequence, operands.window, block);
  loop.lanes = (register_lanes(operands.query_width) + register_lanes(operands.value_width)) / 2;
  loop.heads = operands.heads;
  if (operands.mask_is_data) loop.masked = loop.visited;
  return loop;
}

}  // namespace

SplashLoops splash_loops(const SplashOperands& operands, const TrainConfig& c) {
  const SplashLibrary library = c.runs_tokamax_splash() ? SplashLibrary::tokamax : SplashLibrary::jax;
  const auto loop = [&](SplashKernel kernel, BlockSizes block) { return loop_of(kernel, block, operands, library); };
  const BlockSizes by_keys{c.sa_block_q_dkv, c.sa_block_kv_dkv, c.sa_block_kv_dkv_compute};
  SplashLoops loops;
  loops.forward = {loop(SplashKernel::forward, {c.sa_block_q, c.sa_block_kv, c.sa_block_kv_compute})};
  if (c.fuses_attention_gradients())
    loops.backward = {loop(SplashKernel::fused_gradient, by_keys)};
  else
    loops.backward = {loop(SplashKernel::query_gradient, {c.sa_block_q_dq, c.sa_block_kv_dq, c.sa_block_kv_dq}),
                      loop(SplashKernel::key_value_gradient, by_keys)};
  return loops;
}

}  // namespace shardplan
