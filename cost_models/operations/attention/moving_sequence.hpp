#pragma once
// Attention where the sequence is split and moves inside the kernel's shard_map (context_parallel_strategy ring, ulysses and
// usp; SHARDING.md 2.3). Recorded: llama318bx4_v5p8_c4fsdp2_ring, llama318bx4_v5p8_c4fsdp2_ulysses.
//   ulysses   queries, keys and values leave the sequence's axes for their heads by all-to-all, results go back likewise
//   ring      keys and values go round the n devices of the sequence by permutes, n times in each pass, the last of which
//             brings them home; their gradients in float32 n - 1 times, and once more as they are summed
//   usp       ulysses over its own axis, the ring over the other
// Of a part of 8 MiB of keys on a ring of 4: 4 permutes of 8 MiB in the forward pass, 4 of 8, 3 of 16 and 1 of 8 behind it.
#include <cost_models/operations/operation_kind.hpp>

namespace shardplan {

/// Whether attention is a kernel outside of any shard_map (XLA:GPU with attention=flash or autoselected), which the compiler
/// can't split.
bool is_opaque(const BlockState& state);

/// Whether the sequence moves: inside a kernel's shard_map, where the strategy isn't all_gather. Else all that follows is
/// nothing, and layouts stay.
bool moves_sequence(const BlockState& state);

/// The layout in which the kernel reads or writes a tensor of attention that is laid out as `spec` around it.
PartitionSpec with_whole_sequences(const BlockState& state, TensorId tensor, PartitionSpec spec);

/// Axes around which keys of this layout go; none: they are where their queries are.
AxisList ring_of(const BlockState& state, TensorId keys, const PartitionSpec& form);

/// Keys that the kernel reads at a time: on a ring a device's part (tokamax_ring_attention.py).
std::int64_t keys_at_once(const BlockState& state, const Operation& op);

/// Keys and values, in one pass.
void pass_round(BlockState& state, const Operation& op, Phase phase);
/// And their gradients.
void pass_gradients_round(BlockState& state, const Operation& op);

/// What a device does beside the kernel for each part that comes by: the part is copied before it is sent on, results are
/// added up in float32, and so are its gradients (recorded: copies and adds in the loops of
/// llama318bx4_7x8_c8_ring_context).
void add_ring_work(OperationWork& work, const BlockState& state, const Operation& op);

/// The part of keys and values that comes while another is read; backward their float32 gradients too, what is summed and
/// what comes.
std::vector<Lifetime> ring_buffers(const BlockState& state, const Schedule& schedule, OperationId id);

}  // namespace shardplan
