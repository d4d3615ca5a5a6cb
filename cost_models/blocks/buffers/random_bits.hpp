#pragma once
// AQT rounds gradients at random: 32 bits for each number of a gradient that is narrowed, once for the input's gradient and
// once for the weight's (aqt_dlhs, aqt_drhs: a _uniform each).
#include <cost_models/operations/operation_kind.hpp>
#include <vector>

namespace shardplan {

/// They wait for nothing. A scheduler that minds memory draws them where they are read (v6e:
/// mistral7bx8_v6e8_fsdp8_int8_full); one that runs sums beside compute has drawn all of a layer's before its backward pass
/// (7x: llama27bx8_7x8_fsdp8_int8_full, 14 buffers, 5.3 GB).
std::vector<Lifetime> random_bits(const BlockState& state, const Schedule& schedule, bool weight_gradients_last);

}  // namespace shardplan
