#include <fmt/format.h>

#include <cost_models/time/collective_time.hpp>
#include <cost_models/time/compute_time.hpp>
#include <hardware/machine_of_chips.hpp>
#include <hardware/network/mesh_embedding.hpp>
#include <planner/calibrate/predict.hpp>
#include <shardplan/collective/counted.hpp>
#include <shardplan/error.hpp>

namespace shardplan {
namespace {

class Predictor {
 public:
  Predictor(const HardwareProfile& hardware, const Compiler& compiler) : hardware_(hardware), compiler_(compiler) {}

  Seconds operator()(const MeasuredCollective& measured) const {
    if (measured.devices % hardware_.devices_per_chip != 0)
      throw InputError(
        fmt::format("{} devices: {} has {} a chip", measured.devices, hardware_.name, hardware_.devices_per_chip));
    const int chips = measured.devices / hardware_.devices_per_chip;
    if (ends_at_node(hardware_.fabric) && chips > measured.nodes * hardware_.chips_per_node)
      throw InputError(fmt::format("{} on {}: {} has {} a node", counted(measured.devices, "device"),
                                   counted(measured.nodes, "host"), hardware_.name, hardware_.chips_per_node));
    const Machine machine = machine_of(hardware_, chips, measured.nodes);
    const Mesh mesh{{{"devices", machine.slice.devices, machine.num_slices}}};
    const auto embedded = embed(hardware_, machine.slice, mesh, {});
    if (const auto* infeasible = std::get_if<Infeasible>(&embedded)) throw InputError(infeasible->message);
    Collective collective;
    collective.kind = measured.kind;
    collective.bytes = measured.bytes;
    collective.axes = {0};
    collective.group_size = mesh.devices();
    return collective_time(collective, std::get<MeshEmbedding>(embedded).network({0}));
  }

  Seconds operator()(const MeasuredProduct& measured) const {
    OperationWork work;
    work.kind = WorkKind::matmul;
    work.shape = {measured.m, measured.n, measured.k, 1};
    work.forward = work.shape.flops();
    const double elements = measured.m * measured.k + measured.k * measured.n;
    const double bytes = elements * static_cast<double>(size_of(measured.dtype)) +
                         measured.m * measured.n * static_cast<double>(size_of(DType::bf16));
    work.forward_traffic = {static_cast<std::int64_t>(bytes)};
    if (measured.dtype == DType::s8 || measured.dtype == DType::f8) {
      if (!narrow_peak(hardware_, measured.dtype))
        throw InputError(fmt::format("{} has no peak for products of {}", hardware_.name, name_of(measured.dtype)));
      work.narrow_dtype = measured.dtype;
      work.narrow_forward = work.forward;
    }
    return operation_time(work, hardware_, compiler_).forward.total();
  }

  Seconds operator()(const MeasuredFlops& measured) const {
    OperationWork work;
    work.kind = WorkKind::matmul;
    work.forward = measured.flops;
    return operation_time(work, hardware_, compiler_).forward.total();
  }

  Seconds operator()(const MeasuredTraffic& measured) const { return traffic_time(measured.bytes, hardware_); }

 private:
  const HardwareProfile& hardware_;
  const Compiler& compiler_;
};

}  // namespace

Seconds predict(const Measurement& measurement, const HardwareProfile& hardware, const Compiler& compiler) try {
  return std::visit(Predictor(hardware, compiler), measurement.what);
} catch (const InputError& error) {
  throw InputError(fmt::format("{}: {}", place_of(measurement), error.what()));
}

}  // namespace shardplan
