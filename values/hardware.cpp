#include <shardplan/error.hpp>
#include <shardplan/machine/machine.hpp>
#include <shardplan/rounding.hpp>

namespace shardplan {

std::string_view name_of(Basis basis) {
  switch (basis) {
    case Basis::datasheet:
      return "datasheet";
    case Basis::measured:
      return "measured";
    case Basis::derived:
      return "derived";
    case Basis::assumed:
      return "assumed";
  }
  throw InternalError("unknown Basis");
}

std::string_view name_of(FabricKind fabric) {
  switch (fabric) {
    case FabricKind::torus:
      return "torus";
    case FabricKind::switched:
      return "switched";
    case FabricKind::full_mesh:
      return "full_mesh";
    case FabricKind::graph:
      return "graph";
  }
  throw InternalError("unknown FabricKind");
}

const Figure& PowerStates::default_clock() const {
  for (const PowerState& state : clocks)
    if (state.number == by_default) return state.clock;
  throw InternalError("no clock of the default power state");
}

bool ends_at_node(FabricKind fabric) {
  switch (fabric) {
    case FabricKind::torus:
    case FabricKind::graph:
      return false;
    case FabricKind::switched:
    case FabricKind::full_mesh:
      return true;
  }
  throw InternalError("unknown FabricKind");
}

std::string_view joined_noun(FabricKind fabric) { return ends_at_node(fabric) ? "node" : "slice"; }

int hosts_of(const HardwareProfile& hardware, const Slice& slice) {
  return static_cast<int>(divided_up(slice.chips, hardware.chips_per_node));
}

DType multiplied_as(DType dtype, const HardwareProfile& hardware) {
  if (dtype == DType::f4) return DType::bf16;
  if (dtype != DType::s4) return dtype;
  const bool float8_is_faster =
      hardware.peak_fp8 && (!hardware.peak_int8 || hardware.peak_fp8->value >= hardware.peak_int8->value);
  return float8_is_faster ? DType::f8 : DType::s8;
}

std::optional<Figure> narrow_peak(const HardwareProfile& hardware, DType dtype) {
  switch (multiplied_as(dtype, hardware)) {
    case DType::s8:
      return hardware.peak_int8;
    case DType::f8:
      return hardware.peak_fp8;
    case DType::bf16:
    case DType::f16:
    case DType::f32:  // XLA multiplies it as bfloat16 at its default precision
      return hardware.peak_bf16;
    case DType::s4:  // multiplied_as() widens both
    case DType::f4:
    case DType::pred:
    case DType::s32:
    case DType::u32:
      break;
  }
  throw InternalError("no matrix unit multiplies this DType");
}

}  // namespace shardplan
