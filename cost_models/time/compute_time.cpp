#include <algorithm>
#include <cost_models/time/attention_time.hpp>
#include <cost_models/time/clock_share.hpp>
#include <cost_models/time/compute_time.hpp>
#include <cost_models/time/grouped/grouped_time.hpp>
#include <cost_models/time/grouped/tokamax_tiles.hpp>
#include <cost_models/time/product_time.hpp>
#include <cost_models/time/row_sums_time.hpp>
#include <cost_models/time/splash_time.hpp>
#include <shardplan/error.hpp>

namespace shardplan {
namespace {

/// One kernel of one pass.
struct Kernel {
  WorkKind kind;
  Flops flops, narrow;  ///< of flops, those on operands of fewer bits
  DType narrow_dtype;
  Bytes traffic;
  MatrixShape shape;
  const BlockLoops& loops;
  AttentionShape attention;
  AttentionPass pass;
  GroupedTile tile = {};       ///< of a grouped product
  bool makes_weights = false;  ///< the gradient of its weights
};

/// By a table of such products; without one, empty.
std::optional<double> tabled_share(const Kernel& kernel, DType operands, const HardwareProfile& hardware,
                                   const Compiler& compiler) {
  if (kernel.kind != WorkKind::matmul || kernel.shape.m == 0) return std::nullopt;
  const ProductTable* table = product_table(hardware, compiler, operands);
  return table ? std::optional(share_of_peak(*table, kernel.shape)) : std::nullopt;
}

/// Where no share of the narrow peak is known, products reach `wide_share`, that of the wide one. A machine without a peak
/// runs no such program (constraint `quantization`); its time is shown as if it multiplied wide numbers.
FlopsPerSecond narrow_rate(const Kernel& kernel, const HardwareProfile& hardware, const Compiler& compiler,
                           double wide_share) {
  const auto peak = narrow_peak(hardware, kernel.narrow_dtype);
  if (!peak) return {hardware.peak_bf16.value * wide_share};
  const DType operands = multiplied_as(kernel.narrow_dtype, hardware);
  if (const auto tabled = tabled_share(kernel, operands, hardware, compiler)) return {peak->value * *tabled};
  const bool measured = operands == DType::f8 && hardware.fp8_matmul_efficiency;
  return {peak->value * (measured ? hardware.fp8_matmul_efficiency->value : wide_share)};
}

/// By its tiles; the part that multiplies narrow numbers fetches narrow ones.
Seconds tiled_time(const Kernel& kernel, const HardwareProfile& hardware, const Compiler& compiler) {
  GroupedProduct product{kernel.shape, kernel.tile, kernel.makes_weights, 2, {hardware.peak_bf16.value}};
  const double narrow = kernel.flops.value > 0 ? kernel.narrow.value / kernel.flops.value : 0;
  Seconds time = grouped_time(product, hardware, compiler) * (1 - narrow);
  if (narrow == 0) return time;
  product.operand_bytes = static_cast<double>(size_of(kernel.narrow_dtype));
  product.rate = narrow_rate(kernel, hardware, compiler, 1);
  return time + grouped_time(product, hardware, compiler) * narrow;
}

bool has_known_tiles(const Kernel& kernel, const HardwareProfile& hardware, const Compiler& compiler) {
  return kernel.kind == WorkKind::grouped_matmul && kernel.tile.rows > 0 && hardware.grouped_kernels &&
         compiler.kernels.has_megablox;
}

/// On 100 TFLOP/s wide and 200 narrow: 3 TFLOP, 2 of them narrow, take 10 + 10 ms.
Seconds product_time(const Kernel& kernel, const HardwareProfile& hardware, const Compiler& compiler) {
  if (has_known_tiles(kernel, hardware, compiler)) return tiled_time(kernel, hardware, compiler);
  const double share =
      tabled_share(kernel, DType::bf16, hardware, compiler).value_or(hardware.matmul_efficiency.value);
  const double again = kernel.kind == WorkKind::grouped_matmul && compiler.kernels.has_megablox
                           ? partial_tiles(kernel.shape)
                           : 1;
  Seconds multiplying = (kernel.flops - kernel.narrow) / FlopsPerSecond{hardware.peak_bf16.value * share};
  if (kernel.narrow.value > 0) multiplying += kernel.narrow / narrow_rate(kernel, hardware, compiler, share);
  return std::max(at_clock_of(hardware, compiler, multiplying * again), traffic_time(kernel.traffic, hardware));
}

double attention_share(const Kernel& kernel, const HardwareProfile& hardware) {
  return hardware.attention_kernels && kernel.attention.keys > 0
             ? share_of_peak(*hardware.attention_kernels, kernel.attention, kernel.pass)
             : hardware.attention_efficiency.value;
}

Seconds attention_time(const Kernel& kernel, const HardwareProfile& hardware, const Compiler& compiler) {
  const bool compiled = !kernel.loops.empty() && hardware.splash;
  const FlopsPerSecond reached{hardware.peak_bf16.value * attention_share(kernel, hardware)};
  const Seconds computing = compiled ? splash_time(kernel.loops, hardware) : kernel.flops / reached;
  return std::max(at_clock_of(hardware, compiler, computing), traffic_time(kernel.traffic, hardware));
}

ComputeSeconds kernel_time(const Kernel& kernel, const HardwareProfile& hardware, const Compiler& compiler) {
  ComputeSeconds time;
  switch (kernel.kind) {
    case WorkKind::matmul:
      time.matmul = product_time(kernel, hardware, compiler);
      return time;
    case WorkKind::grouped_matmul:
      time.grouped_matmul = product_time(kernel, hardware, compiler);
      return time;
    case WorkKind::attention:
      time.attention = attention_time(kernel, hardware, compiler);
      return time;
    case WorkKind::vector:
      return time;
  }
  throw InternalError("unknown WorkKind");
}

/// The gradient of [m, k]·[k, n] by its left operand is [m, n]·[n, k], by its right one [k, m]·[m, n].
MatrixShape left_gradient(const MatrixShape& s) { return {s.m, s.k, s.n, s.groups}; }
MatrixShape right_gradient(const MatrixShape& s) { return {s.k, s.n, s.m, s.groups}; }

/// A grouped product's rows stay its rows.
Kernel with_gradient(Kernel kernel, const OperationWork& work, const GroupedTiles& tiles, bool right) {
  const bool rows_stay = right && work.kind == WorkKind::grouped_matmul;
  if (!rows_stay) kernel.shape = right ? right_gradient(work.shape) : left_gradient(work.shape);
  kernel.tile = right ? tiles.weight_gradient : tiles.input_gradient;
  kernel.makes_weights = right;
  return kernel;
}

GroupedTiles tiles_of(const OperationWork& work, const HardwareProfile& hardware) {
  const bool tuned = work.tiles.are_tuned && hardware.grouped_kernels;
  return tuned ? tokamax_tiles(work.shape, *hardware.grouped_kernels) : work.tiles;
}

/// Without the vector work beside them.
OperationTime kernel_times(const OperationWork& work, const HardwareProfile& hardware, const Compiler& compiler) {
  const GroupedTiles tiles = tiles_of(work, hardware);
  OperationTime time;
  Kernel forward{work.kind,           work.forward,         work.narrow_forward, work.narrow_dtype,
                       work.forward_traffic, work.shape, work.forward_loops, work.attention, AttentionPass::forward};
  forward.tile = tiles.forward;
  time.forward = kernel_time(forward, hardware, compiler);
  Kernel backward{work.kind,             work.backward,           work.narrow_backward, work.narrow_dtype,
                  work.backward_traffic, work.shape, work.backward_loops, work.attention, AttentionPass::backward};
  const bool product = work.kind == WorkKind::matmul || work.kind == WorkKind::grouped_matmul;
  if (product && work.gradients == 2) {
    backward.flops = backward.flops * 0.5;
    backward.narrow = backward.narrow * 0.5;
    backward.traffic.value /= 2;
    time.backward_right = kernel_time(with_gradient(backward, work, tiles, true), hardware, compiler);
  }
  time.backward = kernel_time(with_gradient(backward, work, tiles, false), hardware, compiler);
  return time;
}

/// By what the compiler states of such a kernel alone.
Seconds stated_time(const VectorWork& work, const HardwareProfile& hardware, const Compiler& compiler) {
  const Seconds moving = traffic_time(work.traffic, hardware);
  if (!hardware.vector_pass_rate) return moving;
  Seconds computing{work.passes / hardware.vector_pass_rate->value};
  if (hardware.vector_operand_rate) computing.value += work.operands / hardware.vector_operand_rate->value;
  return std::max(moving, at_clock_of(hardware, compiler, computing));
}

ComputeSeconds with_vector(ComputeSeconds time, const VectorWork& alone, const VectorWork& fused,
                           const HardwareProfile& hardware, const Compiler& compiler) {
  time.vector += vector_time(alone, hardware, compiler);
  const Seconds by_itself = stated_time(fused, hardware, compiler);
  if (by_itself.value > 0) time.matmul += by_itself * fused_share(hardware, compiler);
  return time;
}

}  // namespace

Seconds traffic_time(Bytes traffic, const HardwareProfile& hardware) {
  return traffic / BytesPerSecond{hardware.hbm_bandwidth.value * hardware.hbm_efficiency.value};
}

// At 100 Gelement/s of passes and 1000 of operands, a copy of 1G elements takes 10 + 2 ms. Where elementwise kernels were
// measured at 0.8 of 1000 GB/s and its elements have two bytes: 4 GB / 800 GB/s, 5 ms.
Seconds vector_time(const VectorWork& work, const HardwareProfile& hardware, const Compiler& compiler) {
  if (!hardware.elementwise_efficiency) return stated_time(work, hardware, compiler);
  return work.traffic / BytesPerSecond{hardware.hbm_bandwidth.value * hardware.elementwise_efficiency->value};
}

OperationTime operation_time(const OperationWork& work, const HardwareProfile& hardware, const Compiler& compiler) {
  OperationTime time = work.kind == WorkKind::vector ? OperationTime{} : kernel_times(work, hardware, compiler);
  time.forward = with_vector(time.forward, work.vector_forward, work.fused_forward, hardware, compiler);
  time.backward = with_vector(time.backward, work.vector_backward, work.fused_backward, hardware, compiler);
  time.backward.bias_gradients = row_sums_time(work.row_sums, hardware);
  return time;
}

}  // namespace shardplan
