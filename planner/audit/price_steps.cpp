#include <fmt/format.h>

#include <algorithm>
#include <audit/program_traffic.hpp>
#include <cost_models/time/clock_share.hpp>
#include <cost_models/time/compute_time.hpp>
#include <planner/audit/price_steps.hpp>
#include <shardplan/error.hpp>

namespace shardplan {
namespace {

class KernelPrices {
 public:
  KernelPrices(const HloSchedule& schedule, const HardwareProfile& hardware, const Compiler& compiler)
      : schedule_(schedule), hardware_(hardware), compiler_(compiler) {}

  Seconds seconds_of(const HloStep& step) const {
    if (step.kind != HloStepKind::kernel) return {};
    if (is_bound_by_memory(step.work)) return moved(step.work.traffic);
    if (step.work.cycles && hardware_.clock)
      return {*step.work.cycles / (hardware_.clock->value * clock_share(hardware_, compiler_))};
    if (step.engine == Engine::host_copies) return host_copy(step);
    Seconds multiplying = attention(step.work);
    for (const auto& product : step.work.products)
      if (!is_bound_by_its_operands(product, step.work.kind)) multiplying += product_of(product, step.work.kind);
    return std::max(multiplying, traffic_time(step.work.traffic, hardware_));
  }

 private:
  /// As plans have it of kernels that do nothing but elementwise work, where that was measured.
  bool is_bound_by_memory(const KernelWork& work) const {
    return work.kind == KernelKind::vector && work.is_elementwise && work.cycles && hardware_.elementwise_efficiency;
  }

  /// A matrix times a vector, for each of many: an element is multiplied once for all that it is read. Compiled for 7x
  /// (libtpu 0.0.50.1: weights of 8 experts times 7,168 features, 8,192 tokens) its loop over 34 tokens has 2,218 bundles
  /// in its final schedule, 0.84 of the cycles that its operands take HBM.
  static bool is_bound_by_its_operands(const ProductDims& product, KernelKind kind) {
    return kind != KernelKind::grouped_product && product.groups > 1 && std::min({product.m, product.n, product.k}) == 1;
  }

  Seconds moved(Bytes traffic) const {
    return vector_time(VectorWork{0, 0, traffic}, hardware_, compiler_);
  }

  Seconds host_copy(const HloStep& step) const {
    if (!hardware_.host_link_bandwidth)
      throw InputError(fmt::format("{} copies to or from the host's memory, but {} has no host_link_bandwidth",
                                   step.name, hardware_.name));
    return step.work.traffic / BytesPerSecond{hardware_.host_link_bandwidth->value};
  }

  Seconds attention(const KernelWork& work) const {
    OperationWork operation;
    operation.kind = WorkKind::attention;
    operation.attention = work.attention_shape;
    (work.is_gradient ? operation.backward : operation.forward) = work.attention;
    if (work.loop) operation.forward_loops = {*work.loop};
    const OperationTime time = operation_time(operation, hardware_, compiler_);
    return (work.is_gradient ? time.backward : time.forward).total();
  }

  /// Behind a ragged exchange only as many rows of a worst-case buffer are computed as arrive.
  double rows_of(const ProductDims& product, KernelKind kind) const {
    const bool grouped = kind == KernelKind::grouped_product && schedule_.exchanged_rows > 0;
    return grouped ? std::min(product.m, static_cast<double>(schedule_.exchanged_rows)) : product.m;
  }

  Seconds product_of(const ProductDims& product, KernelKind kind) const {
    OperationWork operation;
    operation.kind = kind == KernelKind::grouped_product ? WorkKind::grouped_matmul : WorkKind::matmul;
    operation.shape = {rows_of(product, kind), product.n, product.k, product.groups};
    if (product.makes_weights) return weights_gradient(product, operation.shape);
    operation.tiles.forward = product.tile;
    const double batches = kind == KernelKind::grouped_product ? 1 : product.groups;
    operation.forward = {2 * operation.shape.m * product.n * product.k * batches};
    if (product.narrow) operation.narrow_dtype = *product.narrow;
    if (product.narrow) operation.narrow_forward = operation.forward;
    return operation_time(operation, hardware_, compiler_).forward.total();
  }

  Seconds weights_gradient(const ProductDims& product, const MatrixShape& shape) const {
    OperationWork operation;
    operation.kind = WorkKind::grouped_matmul;
    operation.shape = shape;
    operation.backward = {4 * shape.m * shape.n * shape.k};  // beside that of the rows, which another kernel makes
    operation.tiles.weight_gradient = product.tile;
    if (product.narrow) operation.narrow_dtype = *product.narrow;
    if (product.narrow) operation.narrow_backward = operation.backward;
    return operation_time(operation, hardware_, compiler_).backward_right.total();
  }

  const HloSchedule& schedule_;
  const HardwareProfile& hardware_;
  const Compiler& compiler_;
};

}  // namespace

StepPrices price_steps(const HloProgram& program, const HloSchedule& schedule, const HardwareProfile& hardware,
                       const Compiler& compiler, const Mesh& mesh, LinkPrices& links) {
  const KernelPrices kernels(schedule, hardware, compiler);
  std::vector<GroupAxes> axes;
  for (const auto& groups : program.groups) axes.push_back(axes_of(groups, mesh));
  StepPrices prices;
  if (hardware.collective_processors) prices.collective_processors = hardware.collective_processors->value;
  for (const auto& steps : schedule.computations) {
    auto& seconds = prices.kernels.emplace_back();
    for (const auto& step : steps) seconds.push_back(kernels.seconds_of(step));
  }
  for (const auto& computation : program.computations) {
    auto& seconds = prices.collectives.emplace_back();
    for (const auto& found : computation.collectives)
      seconds.push_back(links.seconds_of(collective_of(program, found, axes[found.groups], mesh)));
  }
  return prices;
}

}  // namespace shardplan
