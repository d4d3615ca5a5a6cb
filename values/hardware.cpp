#include <shardplan/error.hpp>
#include <shardplan/machine/hardware.hpp>

namespace shardplan {

bool ends_at_node(FabricKind fabric) {
  switch (fabric) {
    case FabricKind::torus:
      return false;
    case FabricKind::switched:
    case FabricKind::full_mesh:
      return true;
  }
  throw InternalError("unknown FabricKind");
}

const std::optional<Figure>& narrow_peak(const HardwareProfile& hardware, DType dtype) {
  return dtype == DType::s8 ? hardware.peak_int8 : hardware.peak_fp8;
}

}  // namespace shardplan
