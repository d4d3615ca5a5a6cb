#pragma once
// Kernels that the text names but doesn't show: custom calls of libraries (cuBLAS, cuDNN) and hand-written ones of
// TPUs, by their target or kernel name; what they compute follows from their operands.
#include <audit/hlo/hlo_instruction.hpp>
#include <audit/timeline/kernels/product_dims.hpp>
#include <audit/timeline/hlo_schedule.hpp>

namespace shardplan {

enum class CustomKernel : std::uint8_t {
  unknown,
  nothing,   ///< allocates, or says something of what is there
  matmul,    ///< cuBLAS, cuBLASLt, hipBLASLt: __cublas$…
  attention_forward, attention_backward,  ///< cuDNN's fused attention, __cudnn$fmha…, and Transformer Engine's
  grouped_gemm,                           ///< of ragged_dot: __cublas$lt$groupedMatmul
  /// jax.experimental.pallas.ops.tpu.splash_attention: of the scores, their values and three gradients, each kernel
  /// computes some.
  splash_forward, splash_query_gradient, splash_key_value_gradient,
  grouped_matmul, grouped_matmul_gradient,  ///< megablox: gmm, and tgmm, the gradient of its weights
};

CustomKernel custom_kernel(const HloInstruction& instruction);

/// Of megablox' metadata, {\"tiling\": {\"tile_m\": 512, \"tile_k\": 1024, \"tile_n\": 1024}}; of other text none.
GroupedTile grouped_tile(std::string_view metadata);

/// Products, flops and kind of one whose operands are arrays; the traffic is left to the caller. Masks are causal where
/// the kernel doesn't say (splash attention: masks are data). Empty where its operands aren't what they should be.
std::optional<KernelWork> custom_work(CustomKernel kernel, const HloInstruction& instruction,
                                      const std::vector<ArrayShape>& operands, const ArrayShape& result);

}  // namespace shardplan
