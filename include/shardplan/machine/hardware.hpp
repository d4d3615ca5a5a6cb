#pragma once
// A machine as its profile (hardware/profiles/*.json) gives it. Every figure carries unit, source and basis; the loader
// converts each to the SI unit named here. Per direction unless it says otherwise.
#include <array>
#include <memory>
#include <optional>
#include <shardplan/attention/attention_blocks.hpp>
#include <shardplan/machine/figure.hpp>
#include <shardplan/units.hpp>
#include <shardplan/train_config.hpp>
#include <string>
#include <vector>

namespace shardplan {

enum class FabricKind {
  torus,      ///< a torus or mesh of chips, links to the neighbours in each dim (TPU ICI)
  switched,   ///< NVSwitch: each device injects at full rate to any peer
  full_mesh,  ///< xGMI: one direct link to each peer of the node; an exchange among n devices uses n-1 links
  graph,      ///< nodes and links as the profile lists or generates them; messages are routed over these
};

class GraphFabric;  // hardware/network/graph/graph_fabric.hpp

/// What MaxText calls the machine in `hardware=`; none: MaxText doesn't run on it.
enum class MaxtextHardware { tpu, gpu, none };

/// What starts one process on each host of a larger run; none: nothing is known that does.
enum class HostLauncher { none, xpk, srun };

/// How MaxText is told to run on the machine.
struct Launch {
  MaxtextHardware hardware = MaxtextHardware::none;
  bool compile_topology = false;  ///< its slices have names that compile_topology knows
  HostLauncher hosts = HostLauncher::none;
  std::string device_type;  ///< xpk's word for a slice, without its number: "v5litepod" (MaxText says v5e)
};

/// A fixed path along which JAX lays the devices of a small slice out, whatever the mesh: positions in the order core,
/// x, y, z (core varies fastest), again for each layer of as many devices.
struct DevicePath {
  std::vector<std::vector<int>> shapes;  ///< of the slices that it holds for
  std::vector<int> positions;
  bool one_axis_only = false;  ///< only where one mesh axis takes the whole slice
};

/// A shape the machine is sold or scheduled in: a torus of chips, or a node (or part of it) of a switched or full-mesh
/// machine.
struct Slice {
  std::string name;  ///< "v5p-16", "h100-8"
  int chips = 0;
  int devices = 0;          ///< JAX devices (two for each 7x chip)
  std::vector<int> torus;   ///< chips along each physical dim; empty without a torus
  std::vector<bool> wraps;  ///< whether that dim closes into a ring
};

/// Shares of peak that dense matrix products [m, k]·[k, n] reach, by shape: `shares` has one for each m, n, k of `sizes`,
/// k varies fastest. Between them, and beyond, shardplan interpolates (cost_models/time/product_time.hpp).
struct ProductTable {
  DType operands = DType::bf16;  ///< shares are of the peak for these
  double scoped_vmem_limit = 0;             ///< bytes that the compiler was given; 0: its default
  std::vector<double> sizes;                ///< ascending
  std::vector<double> shares;
  /// What an elementwise operation adds to the product that it is fused with, of what it takes alone.
  double fused_share = 1;
  std::string source;
};

/// Cycles of a splash attention kernel on one core, compiled for each head, block of queries and block of keys of the tables
/// around it (keys vary fastest); linear in each of the three between and beyond them.
struct SplashCycles {
  using Corners = std::array<double, 8>;
  SplashLibrary library = SplashLibrary::jax;
  SplashKernel kernel = SplashKernel::forward;
  Corners visited;  ///< of a block that the mask leaves whole
  Corners masked;   ///< of one of which it cuts something off
  Corners row;      ///< once a row of blocks
  Corners step;     ///< once a step of the grid, visited or not
};

struct SplashTables {
  int cores = 1;  ///< of a device; over them the forward kernel splits its heads; gradients run on one
  std::array<double, 2> heads, queries, keys;
  std::vector<SplashCycles> kernels;  ///< all that each library has
  std::string source;
};

/// What attention kernels reach of peak_bf16 where each query has very many keys.
struct AttentionShares {
  double head_dim = 0;
  double forward = 0, backward = 0;  ///< of 2 and 5 products
};

/// Attention kernels of GPUs, measured: a query with `keys` of them takes as long as keys + extra_keys at its width's share
/// (fetching it, the softmax's first and last steps, the blocks that the mask cuts).
struct AttentionKernels {
  double extra_keys = 0;
  std::vector<AttentionShares> heads;  ///< ascending; linear between two widths, beyond them the nearest
  std::string source;
};

/// Additions of bfloat16 numbers to rows that an index names: XLA:GPU compares and swaps until nobody else came between. Of
/// n numbers that are on their way to one place, one gets through and n - 1 try again.
struct AtomicAdditions {
  Figure attempts;       ///< elements/s: tries of all processors together
  double in_flight = 0;  ///< numbers on their way at a time
  std::string source;    ///< of in_flight
};

/// The tiles that tokamax' grouped kernel was tuned to for one product: rows, contracted dim, columns.
struct TunedTiles {
  std::int64_t rows = 0, contracted = 0, columns = 0, groups = 0;  ///< of the product; rows of all groups
  std::array<std::int64_t, 3> forward{}, input_gradient{}, weight_gradient{};
};

/// Kernels of grouped products, by their tiles (cost_models/time/grouped).
struct GroupedKernels {
  Figure step;         ///< seconds that a step of the grid takes beside its tile's product or traffic
  Figure tile_memory;  ///< bytes that tokamax lets tiles have
  std::vector<TunedTiles> tuned;
  std::string source;  ///< of the tuned tiles
};

/// A state that a chip's voltage and frequency are held in (TPU 7x), and the clock of its compute units there; HBM and links
/// have clocks of their own.
struct PowerState {
  int number = 0;
  Figure clock;  ///< cycles/s
};

struct PowerStates {
  int by_default = 0;              ///< the state of a run that asks for none
  std::vector<PowerState> clocks;  ///< ascending, two at least, the default one of them; between two it grows evenly
  const Figure& default_clock() const;
};

/// What measured steps were of predicted ones, less 1: from 5% less to 39% more.
struct StepError {
  double low = 0, high = 0;
  int runs = 0;
  std::string source;
};

/// A way in which a library sends: for all sizes of messages it takes the one that is done first (NCCL's LL, LL128 and
/// Simple). Time of a collective: base_latency + steps · step_latency + transfer / bandwidth_share, where the steps are
/// those of its longest way, twice for an all-reduce.
struct Protocol {
  std::string name;
  Figure base_latency;     ///< seconds
  Figure step_latency;     ///< seconds
  Figure bandwidth_share;  ///< of what large messages reach
};

struct HardwareProfile {
  std::string name;         ///< "tpu-v5p"
  std::string description;  ///< "Google TPU v5p"
  std::vector<std::string> aliases;  ///< what people call it beside its name: "v5p"
  FabricKind fabric = FabricKind::torus;
  std::shared_ptr<const GraphFabric> graph;  ///< of a fabric that is a graph
  int devices_per_chip = 1;
  int chips_per_node = 4;  ///< chips of a host, or GPUs of a node

  Figure peak_bf16;  ///< flop/s of a device
  std::optional<Figure> peak_int8, peak_fp8;
  Figure hbm_capacity;          ///< bytes of a device that the runtime sees
  /// Share of it that a training process takes where its allocator is given one at start (GPUs); absent: all of it.
  std::optional<Figure> process_memory_fraction;
  Figure hbm_bandwidth;         ///< bytes/s of a device
  Figure matmul_efficiency;     ///< share of peak that a large matrix product reaches
  std::optional<Figure> fp8_matmul_efficiency;  ///< likewise of peak_fp8, where that was measured
  Figure attention_efficiency;  ///< share of peak that the attention kernel reaches
  std::optional<GroupedKernels> grouped_kernels;  ///< in place of the share that large dense products reach
  std::optional<SplashTables> splash;  ///< in place of attention_efficiency for splash attention's kernels
  std::optional<AttentionKernels> attention_kernels;  ///< in its place on GPUs where they were measured
  std::optional<AtomicAdditions> atomic_additions;    ///< absent: not known (finding bias_gradients_unpriced)
  Figure hbm_efficiency;        ///< share of HBM bandwidth that a copy reaches
  /// Likewise elementwise kernels of their own, where that was measured; the two rates below then price fused work alone.
  std::optional<Figure> elementwise_efficiency;
  std::vector<ProductTable> product_tables;  ///< where there are any, in place of matmul_efficiency
  /// Vector work that isn't bound by HBM: elements/s that pass through the unit, and that are read or written (beside it).
  std::optional<Figure> vector_pass_rate, vector_operand_rate;
  std::optional<Figure> clock;  ///< cycles/s at which the peaks hold; the compiler states its estimates in them (TPUs)
  std::optional<PowerStates> power_states;  ///< absent: the clock is always that one
  /// bytes/s of one link in one direction (torus, full mesh) or of all links of one device (switched, graph), raw
  Figure link_bandwidth;
  Figure link_efficiency;  ///< share of it that a large collective reaches
  std::optional<Figure> exchange_efficiency;  ///< likewise an all-to-all, where that was measured (none on a torus)
  /// Torus: of what rings along several dims have together, what a collective over all of them reaches; absent: all.
  std::optional<Figure> joint_ring_efficiency;
  /// Seconds a hop (of a graph: of its slowest kind of link), and fixed ones a collective; none where there are protocols.
  std::optional<Figure> hop_latency, collective_latency;
  /// Share of a device's processors on which a collective runs, and kernels beside it don't (GPUs); absent: none.
  std::optional<Figure> collective_processors;
  std::vector<Protocol> protocols;             ///< in place of hop and collective latency
  std::optional<Figure> die_to_die_bandwidth;  ///< between the devices of one chip (7x)
  std::optional<Figure> host_link_bandwidth;   ///< bytes/s between one device and its host's memory, one direction
  Figure scale_out_bandwidth;                  ///< bytes/s of one device out of its slice (DCN) or node (NIC)
  Figure scale_out_efficiency;
  Figure scale_out_latency;
  std::optional<StepError> step_error;  ///< absent: no published run is at hand
  std::optional<Figure> published_mfu_dense, published_mfu_moe;  ///< the best published model-FLOPs utilization, bf16
  std::optional<Figure> power_per_chip;  ///< watts of a chip that trains; hosts, network and cooling are not in it
  std::optional<Figure> price_per_chip_hour;  ///< dollars; absent where no list price is recorded

  std::vector<Slice> slices;  ///< the valid ones, smallest first (nodes: one or a part of it; more are nodes × n)
  std::string slice_prefix;   ///< of the slices' names: "v5p"
  std::vector<DevicePath> device_paths;
  std::string compiler;  ///< its name, or the path of its file (compilers/load_compiler.hpp)
  Launch launch;
};

/// Whether the links end at a node, so that larger jobs are whole nodes joined by the scale-out network; tori and graphs
/// end at their slices.
bool ends_at_node(FabricKind fabric);

/// "node" or "slice": what the scale-out network joins.
std::string_view joined_noun(FabricKind fabric);
std::string_view name_of(FabricKind fabric);  ///< "full_mesh"

/// What products of TPUs take as long as whose operands are `dtype`. int4: as the 8-bit type with the higher peak (float8 of
/// equal ones), each of which holds its numbers; float4: as bfloat16. Others: as they are. Compiled, 8192 cubed, millions
/// of cycles that libtpu 0.0.50.1 states: v5p int4 2.1, int8 2.5, float8 4.8, float4 4.4, bfloat16 4.7; v6e 1.8, 1.8, 2.5,
/// 2.5, 3.0; 7x 1.2, 2.9, 1.2, 3.0, 2.6.
DType multiplied_as(DType dtype, const HardwareProfile& hardware);

/// The machine's peak of products whose operands are `dtype`, by what they are multiplied as; empty where it has none.
std::optional<Figure> narrow_peak(const HardwareProfile& hardware, DType dtype);

/// What one protocol makes of a collective on one group.
struct ProtocolCost {
  Seconds fixed;       ///< once a collective
  Seconds steps;       ///< of one pass over the group
  double share = 1;    ///< of the group's rates
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
  std::vector<ProtocolCost> protocols{};  ///< where the machine has any: the fastest counts, in place of `latency`
};

}  // namespace shardplan
