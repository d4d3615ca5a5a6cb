#include <algorithm>
#include <audit/hlo/hlo_shape.hpp>
#include <audit/timeline/kernels/splash_kernels.hpp>
#include <shardplan/error.hpp>
#include <utility>

namespace shardplan {
namespace {

using Shapes = std::vector<std::string_view>;

/// Of a Pallas kernel's operands; none where the text doesn't say them.
Shapes constraint_shapes(const HloInstruction& instruction) {
  const auto constraints = attribute_of(instruction, "operand_layout_constraints");
  if (!constraints || constraints->size() < 2) return {};
  return split_list(constraints->substr(1, constraints->size() - 2));
}

/// The operands begin with mask blocks; queries, keys and values [(batch,) heads, tokens, dim] are the first that are
/// floating-point arrays.
std::vector<ArrayShape> floating_arrays(const Shapes& shapes) {
  std::vector<ArrayShape> arrays;
  for (const auto shape : shapes) {
    const bool floating = shape.starts_with("bf16") || shape.starts_with("f32") || shape.starts_with("f16");
    if (ArrayShape array = array_shape(shape); array.dims.size() >= 3 && floating) arrays.push_back(std::move(array));
  }
  return arrays;
}

/// Queries, keys and values may lie with their tokens last (sa_q_layout=SEQ_MINOR and its like); what the kernel makes of
/// them never does.
void put_tokens_before_width(std::vector<ArrayShape>& arrays, const ArrayShape& made) {
  if (made.dims.empty()) return;
  for (ArrayShape& array : arrays) {
    auto& width = array.dims.back();
    auto& tokens = array.dims[array.dims.size() - 2];
    if (width != made.dims.back() && tokens == made.dims.back()) std::swap(width, tokens);
  }
}

std::int64_t tokens_of(const ArrayShape& array) { return array.dims[array.dims.size() - 2]; }

SplashKernel splash_kernel(CustomKernel kernel, const HloInstruction& instruction) {
  if (kernel == CustomKernel::splash_forward) return SplashKernel::forward;
  if (kernel == CustomKernel::splash_query_gradient) return SplashKernel::query_gradient;
  constexpr std::size_t gradients = 3;  // the fused kernel makes that of queries too
  return elements_of_shape(instruction.shape).size() < gradients ? SplashKernel::key_value_gradient
                                                                 : SplashKernel::fused_gradient;
}

bool is_made_by_queries(SplashKernel kernel) {
  return kernel == SplashKernel::forward || kernel == SplashKernel::query_gradient;
}

bool divides(std::int64_t parts, std::int64_t all) { return parts > 0 && all > 0 && all % parts == 0; }

/// [blocks, queries, keys] that the mask cuts, where the kernel reads such.
std::optional<ArrayShape> cut_blocks(const Shapes& shapes) {
  if (!shapes.back().starts_with("s32")) return std::nullopt;
  ArrayShape last = array_shape(shapes.back());
  return last.dims.size() == 3 ? std::optional(std::move(last)) : std::nullopt;
}

/// Of a kernel whose grid has `width` blocks of `keys` for each row.
AttentionWindow window_of(std::int64_t width, std::int64_t keys, std::int64_t kinds_of_cut_blocks) {
  if (kinds_of_cut_blocks == 1) return {width * keys, WindowShape::chunked};
  return {(width - 1) * keys, WindowShape::sliding};
}

/// Blocks, and what of them the mask leaves.
struct MaskGrid {
  BlockSizes block;
  std::optional<AttentionWindow> window;  ///< KernelWork's
};

/// `grid` has a number for each block that a row of blocks may visit.
std::optional<MaskGrid> mask_grid(SplashKernel kernel, const Shapes& shapes, std::int64_t rows, std::int64_t columns) {
  const ArrayShape grid = array_shape(shapes.front());
  if (grid.dims.size() != 3 || !divides(grid.dims[1], rows)) return std::nullopt;
  const auto cut = cut_blocks(shapes);
  if (!cut) {
    if (!divides(grid.dims[2], columns)) return std::nullopt;
    return MaskGrid{{rows / grid.dims[1], columns / grid.dims[2], columns / grid.dims[2]}, std::nullopt};
  }
  const std::int64_t queries = cut->dims[1], keys = cut->dims[2], width = grid.dims[2];
  if (!divides(queries, rows) || !divides(keys, columns) || width <= 0) return std::nullopt;
  const bool is_narrow = is_made_by_queries(kernel) && width < columns / keys;
  return MaskGrid{{queries, keys, keys}, is_narrow ? window_of(width, keys, cut->dims[0]) : AttentionWindow{}};
}

BlockLoop loop_of(SplashKernel kernel, const MaskGrid& grid, const std::vector<ArrayShape>& arrays) {
  const std::int64_t columns = tokens_of(arrays[1]), width = arrays[0].dims.back();
  BlockLoop loop = block_loop(SplashLibrary::jax, kernel, columns, grid.window.value_or(AttentionWindow{}), grid.block);
  loop.lanes = (register_lanes(width) + register_lanes(arrays[2].dims.back())) / 2;
  loop.heads = arrays[0].elements() / static_cast<double>(width * columns);
  return loop;
}

/// A gradient of a whole grid under a mask that is data.
bool lacks_window(const KernelWork& work) {
  return work.window && work.window->tokens == 0 && work.loop && !is_made_by_queries(work.loop->kernel);
}

void give_window(KernelWork& work, AttentionWindow window) {
  const BlockLoop before = *work.loop;
  const auto keys = static_cast<std::int64_t>(before.rows) * before.block.keys;
  work.window = window;
  work.attention = work.attention * (attended_keys(keys, window) / attended_keys(keys, {}));
  work.loop = block_loop(before.library, before.kernel, keys, window, before.block);
  work.loop->lanes = before.lanes;
  work.loop->heads = before.heads;
}

/// Of all kernels that tell it; empty where there is none, or several.
std::optional<AttentionWindow> common_window(const HloSchedule& schedule) {
  std::optional<AttentionWindow> common;
  for (const auto& steps : schedule.computations)
    for (const HloStep& step : steps) {
      if (!step.work.window || lacks_window(step.work)) continue;
      if (common && common != step.work.window) return std::nullopt;
      common = step.work.window;
    }
  return common;
}

}  // namespace

std::optional<KernelWork> splash_work(CustomKernel kernel, const HloInstruction& instruction) {
  const Shapes shapes = constraint_shapes(instruction);
  auto arrays = floating_arrays(shapes);
  if (arrays.size() < 3 || arrays[0].dims.back() <= 0) return std::nullopt;
  put_tokens_before_width(arrays, array_shape(instruction.shape));
  const SplashKernel splash = splash_kernel(kernel, instruction);
  const auto grid = mask_grid(splash, shapes, tokens_of(arrays[0]), tokens_of(arrays[1]));
  const double wide = static_cast<double>(arrays[0].dims.back()), values = static_cast<double>(arrays[2].dims.back());
  KernelWork work;
  work.kind = KernelKind::attention;
  if (grid) work.window = grid->window;
  const double scores =
      arrays[0].elements() / wide * attended_keys(tokens_of(arrays[1]), work.window.value_or(AttentionWindow{}));
  // Scores and their gradients by the queries' width, what is made of values by theirs: q·k and p·v; of the query
  // gradient q·k, do·v, ds·k; of keys' and values' q·k, do·v, ds·q, p·do.
  const double width = kernel == CustomKernel::splash_forward          ? wide + values
                       : kernel == CustomKernel::splash_query_gradient ? 2 * wide + values
                                                                       : 2 * wide + 2 * values;
  work.attention = {2 * scores * width};
  if (grid) work.loop = loop_of(splash, *grid, arrays);
  return work;
}

void share_windows(HloSchedule& schedule) {
  const auto common = common_window(schedule);
  if (!common || common->tokens == 0) return;
  for (auto& steps : schedule.computations)
    for (HloStep& step : steps)
      if (lacks_window(step.work)) give_window(step.work, *common);
}

}  // namespace shardplan
