#pragma once
// What the dropping path's routing makes of all devices' tokens on each of them: weights of the chosen experts
// [batch, sequence, k] are scattered into those of all experts [batch, sequence, experts], at places that are integers of
// the global batch (MaxText layers/moe.py, get_topk and reshape_and_update_weights). Memory grows with the tokens of the
// step, not with those of a device.
// Worked, XLA:TPU: 16,777,216 tokens of 8 in 160 experts. k along the lanes takes 128 of them: places 8.6 GB; weights of all
// experts 10.7 GB; 2.7 G numbers are more than 32 bits address, so that places are three integers each, [tokens, 8, 3] in
// rows of 128 lanes: 69 GB, twice (qwen3-480b on 256 chips of 7x: refused at 183 GiB of temporaries).
#include <cost_models/operations/operation_kind.hpp>

namespace shardplan {

/// Batch, sequence, expert.
inline constexpr std::int64_t dims_of_place = 3;

struct RoutedTokens {
  std::int64_t tokens;  ///< of all devices
  std::int64_t experts, chosen;
  std::int64_t weight_size;  ///< bytes

  std::int64_t places() const { return tokens * chosen; }
  /// Whether what is scattered is brought together, and its gradient gathered from the same places. Else each device
  /// scatters its own, and sums are taken: 4 experts for each chosen (Mixtral). Recorded of 8 (Qwen3-Next, Qwen3.5), 10.7
  /// (DeepSeek2) and 16 (Qwen3, on H100 too: qwen330ba3bx2_h100x8_fsdp8_dm); where between 4 and 8 it turns is not known.
  bool has_many_experts() const { return experts >= 8 * chosen; }
};

RoutedTokens routed_tokens(const BlockState& state, const Operation& routing);

/// XLA:TPU writes the choices number by number. The derivative of a scatter whose places may repeat first writes their ids,
/// words, into those of all tokens; then the weights are written into the device's own (brought together) or, where each
/// device scatters its own, into those of all; backward their gradients, the device's own. Worked: 1,572,864 choices on 16
/// devices of 7x, whose results VMEM holds, 6.7 and 12.3 cycles at 1.92 GHz: 5.5 + 10.1 ms, twice a layer where it is
/// recomputed.
void add_scatters(OperationWork& work, const BlockState& state, const RoutedTokens& routed, bool are_weights_gathered,
                  std::int64_t devices);

/// While the layer routes, and while the weights' gradient is gathered from the same places.
std::vector<Lifetime> whole_routing(const BlockState& state, const Schedule& schedule, OperationId routing);

}  // namespace shardplan
