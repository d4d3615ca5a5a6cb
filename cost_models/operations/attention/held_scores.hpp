#pragma once
// attention=dot_product: the scores [batch, heads, queries, keys] are written, and read for their softmax and its gradient.
#include <cost_models/operations/operation_kind.hpp>

namespace shardplan {

struct HeldScores {
  double rows = 0;              ///< heads x queries that this device has
  double keys = 0;              ///< of each: all, masked or not
  DType dtype = DType::bf16;    ///< float32 where the model says so (Operation::wide_scores)
  bool grouped = false;         ///< several heads of queries read one head of keys
  bool capped = false;          ///< their gradient reads them as they were multiplied
  bool exchanged = false;       ///< for their gradient, of split keys (split_keys.hpp)
  double count() const { return rows * keys; }
  Bytes bytes() const { return Bytes{static_cast<std::int64_t>(count()) * size_of(dtype)}; }
};

/// Where products fuse nothing attention is two of them, four backward, that write the scores or read them, and kernels
/// between them (`scores` and `turned_scores` of the compiler's vector kernels, an element two bytes of a score). `work` is
/// that of a kernel; its FLOPs and traffic of queries, keys and values stay.
/// 2 heads of 8 queries and keys in bfloat16: 128 scores, 256 bytes; forward 512 bytes for the products, of 4.5 operands a
/// score 576 operands for the softmax; in float32 twice as many.
void multiply_scores(OperationWork& work, const BlockState& state, const Operation& op, const HeldScores& scores);

/// Probabilities and their mask from where they are (re)computed to their gradient (recorded: XLA:GPU's largest
/// temporaries). The gradients of keys and values contract over (query, group); where a group is more than one head the
/// scores, [batch, kv head, group, query, key], are written once more in that order, when the mask has been read: in its
/// place (llama318bx2_h100x8_fsdp2tp4).
/// A library's products read operands as they want them: the scores' gradient is written for two, of grouped scores in
/// both orders; scores that aren't grouped wait as they were multiplied, beside the probabilities (recorded:
/// llama27bx4_h100x8_fsdp4_data2_save_qkv_proj_notriton, mistral7bx4_h100x8_fsdp8_full_notriton).
/// Capped ones wait until their gradient is made, grouped or not, whatever multiplies (recorded:
/// gemma29bx8_h100x8_fsdp8_full, gemma227bx4_h100x8_fsdp8_minimal_notriton).
/// Exchanged ones are there as they are sent and, twice, as they came, when what a library multiplied is gone; a mask is of
/// queries and keys alone (recorded:
/// llama27bx3_h100x8_fsdp4_context2_full, llama27bx3_h100x8_fsdp2_context4_full_notriton).
std::vector<Lifetime> score_buffers(const BlockState& state, const Schedule& schedule, OperationId id,
                                    const HeldScores& scores);

}  // namespace shardplan
