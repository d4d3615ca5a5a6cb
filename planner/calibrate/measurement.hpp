#pragma once
// What was measured on a machine, one kernel or collective each.
#include <cstdint>
#include <shardplan/collective/collective_kind.hpp>
#include <shardplan/train_config.hpp>
#include <shardplan/units.hpp>
#include <string>
#include <variant>
#include <vector>

namespace shardplan {

/// Among `devices` of `nodes` nodes; bytes as CollectiveKind says.
struct MeasuredCollective {
  CollectiveKind kind = CollectiveKind::all_gather;
  Bytes bytes;
  int devices = 1, nodes = 1;
};

/// [m, k]·[k, n]
struct MeasuredProduct {
  double m = 0, n = 0, k = 0;
  DType dtype = DType::bf16;
};

/// All products of a step together; their shapes aren't known.
struct MeasuredFlops {
  Flops flops;
};

/// Kernels that are bound by HBM.
struct MeasuredTraffic {
  Bytes bytes;
};

struct Measurement {
  std::variant<MeasuredCollective, MeasuredProduct, MeasuredFlops, MeasuredTraffic> what;
  Seconds seconds;
  std::string file;
  std::int64_t line = 0;  ///< 0: of no single line
  std::string device = {};  ///< what its file calls the device that was measured; empty: it doesn't say
};

using Measurements = std::vector<Measurement>;

/// "gemm.csv:12"; "ops.json" of what no single line says.
inline std::string place_of(const Measurement& measured) {
  return measured.line > 0 ? measured.file + ":" + std::to_string(measured.line) : measured.file;
}

}  // namespace shardplan
