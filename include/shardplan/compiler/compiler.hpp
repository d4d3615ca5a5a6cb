#pragma once
// A compiler as its file (compilers/*.json) gives it: what it does differently for the same program, the kernels that
// run by default, what it leaves exposed. Cost models know a compiler, never a machine.
#include <algorithm>
#include <cstdint>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <shardplan/compiler/habit.hpp>
#include <shardplan/compiler/overlap_rules.hpp>
#include <shardplan/compiler/scatter_cycles.hpp>
#include <shardplan/compiler/vector_kernel.hpp>
#include <shardplan/train_config.hpp>
#include <shardplan/units.hpp>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace shardplan {

enum class GroupedMatmul : std::uint8_t { megablox, ragged_dot };
std::string_view name_of(GroupedMatmul kernel);  ///< "ragged_dot"

class AttentionKernelSet {
 public:
  bool has(AttentionKernel kernel) const { return (bits_ & bit(kernel)) != 0; }
  void add(AttentionKernel kernel) { bits_ |= bit(kernel); }
  bool operator==(const AttentionKernelSet&) const = default;

 private:
  static std::uint32_t bit(AttentionKernel kernel) { return std::uint32_t{1} << static_cast<unsigned>(kernel); }
  std::uint32_t bits_ = 0;
};

/// The kernels that run where nothing asks for others, and which of MaxText's there are.
struct Kernels {
  AttentionKernel attention = AttentionKernel::autoselected;  ///< MaxText's `attention`, of a searched plan
  GroupedMatmul grouped_matmul = GroupedMatmul::ragged_dot;  ///< of the sparse expert path
  bool runs_megablox() const { return grouped_matmul == GroupedMatmul::megablox; }
  bool has_megablox = false;
  bool has_tokamax_splash = false;  ///< in which MaxText writes ring, ulysses and usp context parallelism
  AttentionKernelSet attention_kernels;  ///< that run there at all
  AttentionKernelSet sink_kernels;       ///< those of them that know attention sinks
  AttentionKernelSet window_kernels;     ///< that leave out the keys before a layer's window; others attend to all
  AttentionKernelSet cap_kernels;        ///< that cap scores (attn_logits_soft_cap); others don't, and don't say so
  std::int64_t packed_segments = -1;     ///< max_segments_per_seq of a searched plan, where its kernel needs one
  std::int64_t narrow_tiles_from_head_dim = 0;  ///< heads with masked keys that need smaller tiles; 0: none do
};

/// How far predicted memory is off, as shares of what is not argument (gradients, activations, temporaries): the real
/// peak is within arguments + (1 + low … 1 + high) × the rest. Measured on records of the compiler's family by
/// `shardplan validate --ranges`.
struct MemoryError {
  double low = 0, high = 0;
  int records = 0;
  bool operator==(const MemoryError&) const = default;
};

/// What an XLA flag changes of what shardplan computes.
enum class FlagEffect : std::uint8_t {
  modelled,      ///< a habit, which is switched
  none,          ///< neither counts nor memory; or it is given its default
  not_modelled,  ///< known to change counts, memory or time; not computed
  unknown,       ///< in no table of the compiler
  foreign,       ///< another compiler's: this one stops at it, or never asks
};
std::string_view name_of(FlagEffect effect);  ///< "not_modelled"

/// What a flag may give a number of bytes for.
enum class CompilerSetting : std::uint8_t {
  scoped_vmem_limit,  ///< VMEM for an operation's tiles
  all_gather_combine_threshold,      ///< all-gathers of one loop body become one up to so many bytes of results
  reduce_scatter_combine_threshold,  ///< likewise
  all_reduce_combine_threshold,
};
inline constexpr CompilerSetting combine_thresholds[] = {CompilerSetting::all_gather_combine_threshold,
                                                         CompilerSetting::reduce_scatter_combine_threshold,
                                                         CompilerSetting::all_reduce_combine_threshold};
std::span<const CompilerSetting> all_compiler_settings();
std::string_view name_of(CompilerSetting setting);  ///< "scoped_vmem_limit", the id in files

/// What a flag makes of a compiler.
struct FlagChange {
  std::map<Habit, bool> switches;  ///< habits that it then has, or has not
  std::optional<std::pair<CompilerSetting, Bytes>> setting;
  std::optional<int> power_state;  ///< that the chip is then held in
  std::optional<HostCopies> host_copies;       ///< OverlapRules::host_copies
  std::optional<bool> window_covers_gather;  ///< likewise
  std::vector<CollectiveKind> asynchronous, pipelined;  ///< kinds that become so,
  bool on = true;                                       ///< or are no longer
};

/// A flag that the program is compiled with, and what comes of it.
struct CompilerFlag {
  std::string name, value;  ///< "xla_gpu_enable_triton_gemm", "false"
  FlagEffect effect = FlagEffect::unknown;
  std::string does;   ///< for readers; empty when unknown or foreign
  FlagChange change;  ///< nothing unless it is modelled
  bool of_offloading = false;  ///< assumed of runs whose remat policy moves values to the host, and no part of others
};
std::string print_flag(const CompilerFlag& flag);  ///< "--xla_gpu_enable_triton_gemm=false"
/// Those that a run is told: all but foreign ones.
std::vector<std::string> print_flags(const std::vector<CompilerFlag>& flags);

/// A flag that published recipes set.
struct OfferedFlag {
  CompilerFlag flag;
  std::string source;
};

/// All flags of a published run.
struct PublishedFlags {
  std::vector<CompilerFlag> flags;
  std::string source;
};

/// What most published recipes of a machine set for models of one kind: assumed of runs that give no flags.
struct AssumedFlags {
  bool of_mixtures = false;  ///< of models with experts; else of dense ones
  std::vector<CompilerFlag> flags;
  std::string source;
};

/// Slices by their devices, and tensors by their bytes.
struct SliceSizes {
  std::int64_t from_devices = 1;
  std::vector<std::int64_t> of_devices;  ///< and only these; empty: any
  std::optional<Bytes> up_to{};          ///< larger tensors are not concerned
  bool has(std::int64_t devices) const {
    return devices >= from_devices &&
           (of_devices.empty() || std::find(of_devices.begin(), of_devices.end(), devices) != of_devices.end());
  }
};

/// What a device computes of the logits.
struct HeadShare {
  std::int64_t sequences = 0;  ///< or parts of sequences
  std::int64_t tokens = 0;     ///< of all of them
  std::int64_t embed = 0;      ///< features that the head reads of each
};

/// Heads that a habit of logits holds for: those with few tokens for their width, and those of few sequences whatever their
/// tokens.
struct HeadSizes {
  /// Up to so many tokens of a device for each of embed; as a rule any number.
  double tokens_per_embed = std::numeric_limits<double>::infinity();
  double of_one_sequence = 0;        ///< the same where a device has one sequence; 0: that makes no difference
  std::int64_t up_to_sequences = 0;  ///< 0: their number makes no difference
  bool has(const HeadShare& head) const {
    const double most = head.sequences == 1 && of_one_sequence > 0 ? of_one_sequence : tokens_per_embed;
    return head.sequences <= up_to_sequences || static_cast<double>(head.tokens) <= most * static_cast<double>(head.embed);
  }
};

/// Of sums in pieces, where a flag gives an operation's tiles so much VMEM or more.
struct LargerPieces {
  Bytes vmem;          ///< CompilerSetting::scoped_vmem_limit
  Bytes budget;        ///< in place of Compiler::piece_budget
  double growth{0.0};  ///< of the budget for each byte beyond `vmem`
};

struct Compiler {
  std::string name;    ///< "xla-tpu-v5p"
  std::string family;  ///< "XLA:TPU", in reports
  HabitSet habits;     ///< those that its flags switch, switched
  std::vector<CompilerFlag> flags;  ///< given, by name
  std::vector<std::string> foreign_flags;  ///< how names begin that are other compilers'
  std::vector<OfferedFlag> offered;  ///< that might be
  std::vector<PublishedFlags> published;
  std::vector<AssumedFlags> assumed;
  std::string flags_assumed_from;  ///< whose recipes `flags` are; empty: they were given, or there are none
  Kernels kernels;
  OverlapRules overlap;
  VectorKernels vector_kernels;
  std::optional<ScatterCycles> scatter_cycles;  ///< absent: scatters are none of what takes long (GPUs)
  std::map<CompilerSetting, Bytes> settings;   ///< those that a flag gives; the compiler's own are not known here
  std::optional<int> power_state;  ///< likewise, of the machine's
  std::map<Habit, SliceSizes> slice_sizes;  ///< of habits that concern some slices only
  std::map<Habit, HeadSizes> head_sizes;    ///< of habits that concern some heads only
  double largest_waiting_logits = 0;     ///< words · tokens for each of embed, of computes_loss_value_late; 0: any
  std::int64_t largest_words_piece = 0;  ///< lane tiles, of all_reduces_indivisible_words
  Bytes smallest_kept_mask;  ///< of keeps_lookup_masks, on a device
  Bytes piece_budget;  ///< of pads_scattered_rows and pads_rows_to_tiles: a piece for each device that sums, and four more
  std::optional<LargerPieces> larger_pieces;  ///< absent: flags don't change that
  std::map<MoePath, MemoryError> memory_error;  ///< of every path
  /// As MemoryError::high, of mixtures in pipelines whose stages run several layers an iteration: there programs need far
  /// more than is predicted; 0: not known to.
  double stage_memory_error = 0;
  std::shared_ptr<const Compiler> unflagged;  ///< the same before `flags`; null: there are none
  bool has(Habit habit) const { return habits.has(habit); }
  bool has(Habit habit, const HeadShare& head) const;
  std::optional<Bytes> setting(CompilerSetting setting) const;  ///< that a flag gives
};

/// A compiler under these flags, by name, and no others.
Compiler with_flags(const Compiler& compiler, std::vector<CompilerFlag> flags);

/// A compiler under the flags that most published recipes for such models set; as it is, where its file has none. A plan's
/// command carries them.
Compiler with_recipe_flags(const Compiler& compiler, bool has_experts);

/// The same of a run that was given none: they are assumed for its seconds, not taken for how its program writes buffers.
Compiler with_assumed_flags(const Compiler& compiler, bool has_experts);

}  // namespace shardplan
