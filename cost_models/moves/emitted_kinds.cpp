#include <algorithm>
#include <cost_models/layouts/tiles.hpp>
#include <cost_models/moves/emitted_kinds.hpp>
#include <optional>

namespace shardplan {
namespace {

/// A group of all `devices`, where the compiler has the habit with so many.
bool takes_all(Habit habit, std::int64_t group, std::int64_t devices, const Compiler& compiler) {
  if (!compiler.has(habit) || group != devices) return false;
  const auto sizes = compiler.slice_sizes.find(habit);
  return sizes == compiler.slice_sizes.end() || sizes->second.has(devices);
}

bool concerns(Habit habit, const AxisList& axes, const Mesh& mesh, const Compiler& compiler) {
  return takes_all(habit, mesh.product(axes), mesh.devices(), compiler);
}

/// Over all devices of a slice, whether or not over other slices too. Compiled for two slices of 16 v6e and of 8 v5p: under
/// data=2 between them, fsdp within, a weight's gradient is all-reduced in each slice, sliced, and the shards are summed
/// between the slices; under fsdp over both it is scattered in each slice, the shards summed between them and gathered
/// again: one all-reduce over both networks. On 7x, which has no such habit, it stays scattered.
bool sums_whole_slices(const AxisList& axes, const Mesh& mesh, const Compiler& compiler) {
  return takes_all(Habit::all_reduces_over_whole_slices, mesh.group_size(axes, GroupSpan::inside_slices),
                   mesh.devices() / mesh.slices(), compiler);
}

/// Where there is a limit it is one of weights and token ids; ids and weights of routing, 8 and 17 MB, stay gathers
/// (plan_mixtral8x22b_tpuv6e_128). On 7x, without a limit, they are sums too
/// (qwen3535ba3b_7x64_expert8_fsdp8_fix_save_qkv_proj).
bool is_beyond_limit(const Collective& gather, const Compiler& compiler) {
  const auto sizes = compiler.slice_sizes.find(Habit::gathers_whole_slices_by_all_reduce);
  if (sizes == compiler.slice_sizes.end() || !sizes->second.up_to) return false;
  const bool may_be = gather.parameter || gather.cause == Cause::token_ids;
  return !may_be || gather.bytes.value > sizes->second.up_to->value;
}

/// 1002 = 2 * 3 * 167.
std::int64_t largest_prime_factor(std::int64_t number) {
  std::int64_t largest = 1;
  for (std::int64_t factor = 2; factor * factor <= number; ++factor)
    for (; number % factor == 0; number /= factor) largest = factor;
  return std::max(largest, number);
}

/// Of a head that multiplies by [embed, words]; a tied one's table has them first. A piece has whole prime factors of the
/// lane tiles, and one for each device of the group.
bool has_indivisible_words(const Tensor& weight, const PartitionSpec& spec, std::int64_t group, const Compiler& compiler) {
  if (!compiler.has(Habit::all_reduces_indivisible_words) || weight.dims.size() != 2) return false;
  const auto& [dim, words] = weight.dims.back();
  return dim == Dim::vocab && spec.dims.back().empty() && words % lanes == 0 &&
         largest_prime_factor(words / lanes) * group > compiler.largest_words_piece;
}

}  // namespace

bool is_all_reduced(const Tensor& weight, const PartitionSpec& spec, const AxisList& axes, const Mesh& mesh,
                    const Compiler& compiler) {
  return !axes.empty() && (sums_whole_slices(axes, mesh, compiler) ||
                           has_indivisible_words(weight, spec, mesh.product(axes), compiler));
}

AxisList summed_shards(const PartitionSpec& spec, const AxisList& tokens) { return common(axes_of(spec), tokens); }

bool is_reduce_scattered(const Tensor& weight, const PartitionSpec& spec, const AxisList& tokens, const Mesh& mesh,
                         const Compiler& compiler) {
  const AxisList axes = summed_shards(spec, tokens);
  return !axes.empty() && !is_all_reduced(weight, spec, axes, mesh, compiler);
}

namespace {

/// Of the axes that a gather takes away, the one that splits the tensor first.
std::optional<AxisId> outermost(const Collective& gather) {
  for (const AxisList& axes : gather.from.spec.dims)
    for (const AxisId axis : axes)
      if (gather.axes.contains(axis)) return axis;
  return std::nullopt;
}

/// An axis of 2 is the devices of a chip, where no dim of the torus is: which slices these are the habit says.
bool has_outer_halves(const Collective& gather, const Mesh& mesh, const Compiler& compiler) {
  if (mesh.slices() > 1 || !concerns(Habit::gathers_outer_halves_by_all_reduce, gather.axes, mesh, compiler)) return false;
  const auto first = outermost(gather);
  return first && gather.axes.size() > 1 && mesh.size(*first) == 2;
}

bool comes_out_as_sum(const Collective& c, const Mesh& mesh, const Compiler& compiler) {
  if (c.kind != CollectiveKind::all_gather || c.span != GroupSpan::whole) return false;
  if (has_outer_halves(c, mesh, compiler)) return true;
  return concerns(Habit::gathers_whole_slices_by_all_reduce, c.axes, mesh, compiler) && !is_beyond_limit(c, compiler);
}

/// Activations under tensor=16 on 4x4 of v6e and 16 chips of v5p (llama27bx4_v6e16_tp16_minoff_bf16weights,
/// gemma7bx4_v6e16_tensor16_save_out_proj, deepseek216bx5_v5p16_tp16: 98 sums, none a reduce-scatter; on 2x4 none is).
bool sums_whole_activation(const Collective& c, const Mesh& mesh, const Compiler& compiler) {
  return c.kind == CollectiveKind::reduce_scatter && c.span == GroupSpan::whole && !c.parameter &&
         concerns(Habit::all_reduces_over_whole_slices, c.axes, mesh, compiler);
}

/// Features that are whole tiles, an odd number of them on a device. Low ranks are scattered whatever they are (512 over
/// tensor=4: plan_deepseek216b_tpuv5p_256_s4096_meshset4).
bool keeps_odd_tiles(const Collective& c, const Program& program, const Mesh& mesh, const Compiler& compiler) {
  if (!compiler.has(Habit::scatters_even_tiles_of_activations)) return false;
  if (c.kind != CollectiveKind::reduce_scatter || c.parameter || c.tensor < 0 || c.to.dims.empty()) return false;
  const TensorDim& columns = program.blocks[c.block].tensors[c.tensor].dims.back();
  if (columns.dim != Dim::embed || common(c.to.dims.back(), c.axes).empty()) return false;
  return are_odd_tiles(local_size(columns, c.to.dims.back(), mesh));
}

}  // namespace

std::vector<Collective> as_emitted(std::vector<Collective> collectives, const Program& program, const Mesh& mesh,
                                   const Compiler& compiler) {
  for (Collective& c : collectives) {
    if (sums_whole_activation(c, mesh, compiler) || keeps_odd_tiles(c, program, mesh, compiler))
      c.kind = CollectiveKind::all_reduce;
    if (!comes_out_as_sum(c, mesh, compiler)) continue;
    c.kind = CollectiveKind::all_reduce;
    c.in_place_of_gather = true;
  }
  return collectives;
}

}  // namespace shardplan
