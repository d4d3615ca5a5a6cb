#pragma once
// A machine as its profile (hardware/profiles/*.json) gives it. Every figure carries unit, source and basis; the loader
// converts each to the SI unit named here. Per direction unless it says otherwise.
#include <cstdint>
#include <map>
#include <optional>
#include <shardplan/units.hpp>
#include <string>
#include <vector>

namespace shardplan {

enum class Basis { datasheet, measured, derived, assumed };

/// One number of a profile, in SI units (bytes, bytes/s, flop/s, s, 1), with where it came from.
struct Figure {
  double value = 0;
  std::string unit;  ///< as printed in the profile ("GB/s"); `value` is already converted
  std::string source;
  Basis basis = Basis::assumed;
};

enum class FabricKind {
  torus,      ///< TPU ICI: a torus of chips, links to the neighbours in each dim
  switched,   ///< NVSwitch: each device injects at full rate to any peer
  full_mesh,  ///< xGMI: one direct link to each peer of the node; an exchange among n devices uses n-1 links
};

/// What the compiler of this machine does differently for the same program; data, because it is a habit, not a law.
struct CompilerHabits {
  std::string compiler;  ///< "XLA:TPU", "XLA:GPU"
  bool gathers_moe_layer_weights_twice =
      false;  ///< non-expert weights of MoE layers gathered twice in the backward pass
  bool gathers_activations_per_consumer = false;  ///< tensor-parallel activations gathered again for each consumer
  bool attention_in_shard_map = true;             ///< default attention kernel runs inside shard_map (splash on TPU)
  bool copies_stacked_parameters = false;     ///< scanned parameters are copied to layer-major order before the loop
  bool moves_stacks_in_compute_dtype = true;  ///< weights are cast before pipeline_fsdp_ag_once gathers and moves them
  bool defers_head_gradient = false;          ///< head weight gradient computed after the layers' backward pass
  bool ragged_dot_is_dense = false;           ///< ragged_dot computes every local expert for every row
  std::string reduction;  ///< what it emits for a sharded gradient: "reduce-scatter" or "all-reduce"
  std::string source;
};

/// A shape the machine is sold or scheduled in. For a TPU: a torus of chips. For GPUs: nodes of `devices_per_node`.
struct Slice {
  std::string name;  ///< "v5p-16", "h100-8"
  int chips = 0;
  int devices = 0;          ///< JAX devices (two for each 7x chip)
  std::vector<int> torus;   ///< chips along each physical dim; empty for GPUs
  std::vector<bool> wraps;  ///< whether that dim closes into a ring
};

struct HardwareProfile {
  std::string name;         ///< "tpu-v5p"
  std::string description;  ///< "Google TPU v5p"
  FabricKind fabric = FabricKind::torus;
  int devices_per_chip = 1;
  int chips_per_node = 4;  ///< chips of a host (TPU) or GPUs of a node

  Figure peak_bf16;  ///< flop/s of a device
  std::optional<Figure> peak_int8, peak_fp8;
  Figure hbm_capacity;          ///< bytes of a device that a program can use
  Figure hbm_bandwidth;         ///< bytes/s of a device
  Figure matmul_efficiency;     ///< share of peak that a large matrix product reaches
  Figure attention_efficiency;  ///< share of peak that the attention kernel reaches
  Figure hbm_efficiency;        ///< share of HBM bandwidth that a copy reaches
  Figure link_bandwidth;   ///< bytes/s of one link in one direction (torus, full mesh) or of one device (switched), raw
  Figure link_efficiency;  ///< share of it that a large collective reaches
  Figure hop_latency;      ///< seconds a hop
  Figure collective_latency;                   ///< fixed seconds a collective
  std::optional<Figure> die_to_die_bandwidth;  ///< between the devices of one chip (7x)
  Figure scale_out_bandwidth;                  ///< bytes/s of one device out of its slice (TPU, DCN) or node (GPU, NIC)
  Figure scale_out_efficiency;
  Figure scale_out_latency;
  std::optional<Figure> price_per_chip_hour;  ///< dollars; absent where no list price is recorded

  std::vector<Slice> slices;  ///< the valid ones, smallest first (GPU: one node or a part of it; more are nodes × n)
  CompilerHabits habits;
  std::vector<std::string> topology_prefixes;  ///< names in compile_topology: "v5p", "tpu7x"
};

/// The effective network of a group of devices that differ only in some mesh axes, for one collective at a time.
/// Rates are per device: an all-gather of `result` bytes over n devices takes (n-1)/n·result / ring_rate.
struct GroupNetwork {
  int size = 1;                  ///< devices in the group
  BytesPerSecond ring_rate;      ///< into each device during all-gather or reduce-scatter
  BytesPerSecond exchange_rate;  ///< out of each device during a balanced all-to-all
  BytesPerSecond shift_rate;     ///< out of each device when all shift to a neighbour
  Seconds latency;               ///< fixed cost of one collective
  std::string description;       ///< "8-ring on torus dims x,y (no wraparound)"
};

}  // namespace shardplan
