#include <algorithm>
#include <array>
#include <audit/hlo/hlo_shape.hpp>
#include <audit/timeline/kernels/custom_kernels.hpp>
#include <audit/timeline/kernels/splash_kernels.hpp>
#include <charconv>
#include <shardplan/attention/attention_window.hpp>
#include <shardplan/error.hpp>
#include <utility>

namespace shardplan {
namespace {

constexpr std::array<std::string_view, 7> targets_of_nothing = {
    "AllocateBuffer", "AssumeGatherIndicesInBound", "ConcatBitcast", "GatherScatterIndicesBitpacked",
    "X64Combine",     "annotate_device_placement",  "Sharding"};

/// Beginnings of what Pallas calls the kernels; XLA names their instructions so.
constexpr std::array<std::pair<std::string_view, CustomKernel>, 5> tpu_kernels = {{
    {"splash_mha_fwd", CustomKernel::splash_forward},
    {"splash_mha_dq", CustomKernel::splash_query_gradient},
    {"splash_mha_dkv", CustomKernel::splash_key_value_gradient},
    {"gmm", CustomKernel::grouped_matmul},
    {"tgmm", CustomKernel::grouped_matmul_gradient},
}};

std::string_view unquoted(std::string_view text) {
  return text.size() >= 2 && text.starts_with('"') ? text.substr(1, text.size() - 2) : text;
}

CustomKernel tpu_kernel(std::string_view name) {
  for (const auto& [begin, kernel] : tpu_kernels)
    if (name.starts_with(begin)) return kernel;
  return CustomKernel::unknown;
}

/// What stands behind a key of a backend_config, JSON ("key": "value") or typed attributes (key = value : i64); empty
/// where it has none.
std::string_view value_of(std::string_view config, std::string_view key) {
  const auto at = config.find(key);
  const auto begin = at == config.npos ? at : config.find_first_not_of(" \\\":=", at + key.size());
  return begin == config.npos ? "" : config.substr(begin, config.find_first_of("\",} ", begin) - begin);
}

std::int64_t integer_of(std::string_view config, std::string_view key) {
  const auto value = value_of(config, key);
  std::int64_t number = 0;
  std::from_chars(value.data(), value.data() + value.size(), number);
  return number;
}

/// cuDNN writes CAUSAL or PADDING_CAUSAL; Transformer Engine the number of its NVTE_Mask_Type, causal from 2 on.
bool is_causal(std::string_view config) {
  const auto mask = value_of(config, "mask_type");
  return mask.find("CAUSAL") != mask.npos || integer_of(config, "mask_type") >= 2;
}

/// Of the keys, how many a query attends to on average. A window of -1 or 0 is none.
double attended(std::string_view config, std::int64_t keys) {
  if (!is_causal(config)) return static_cast<double>(keys);
  const auto window = std::max(integer_of(config, "sliding_window_length"), integer_of(config, "window_size_left"));
  return attended_keys(keys, {std::max<std::int64_t>(window, 0)});
}

/// [batch, queries, heads, dim] of queries; keys and values likewise, in the order of the operands.
std::optional<KernelWork> fused_attention(bool backward, const HloInstruction& instruction,
                                     const std::vector<ArrayShape>& operands) {
  if (operands.size() < 3) return std::nullopt;
  for (int i = 0; i < 3; ++i)
    if (operands[i].dims.size() != 4) return std::nullopt;
  const auto& query = operands[0].dims;
  const double width = static_cast<double>(query[3] + operands[2].dims[3]);
  KernelWork work;
  const double keys = attended(instruction.rest, operands[1].dims[1]);
  work.kind = KernelKind::attention;
  work.attention = {2 * static_cast<double>(query[0] * query[1] * query[2]) * keys * width * (backward ? 2.5 : 1)};
  work.attention_shape = {keys, width / 2};
  work.is_gradient = backward;
  return work;
}

/// Of the rows, those of this device's groups: operand 1 has where each group of the whole layer begins (a ring of experts
/// hands the kernel all rows), experts taken to be chosen evenly.
double share_of_groups(const std::vector<ArrayShape>& operands, double groups) {
  const auto& begins = operands[1].dims;
  const double all = begins.size() == 1 ? static_cast<double>(begins[0] - 1) : groups;
  return all > groups ? groups / all : 1;
}

/// rows [m, k] and weights [groups, k, n] (or transposed) → [m, n]; tgmm: → [groups, k, n].
std::optional<KernelWork> grouped_work(bool gradient, const std::vector<ArrayShape>& operands,
                                       const ArrayShape& result) {
  if (operands.size() < 2) return std::nullopt;
  const ArrayShape &rows = operands[operands.size() - 2], &other = operands.back();
  ProductDims dims;
  if (gradient) {
    if (result.dims.size() != 3 || rows.dims.size() != 2) return std::nullopt;
    dims = {rows.elements() / static_cast<double>(result.dims[1]), static_cast<double>(result.dims[2]),
            static_cast<double>(result.dims[1]), static_cast<double>(result.dims[0]), rows.narrow};
  } else {
    if (other.dims.size() != 3 || rows.dims.size() != 2 || result.dims.size() != 2) return std::nullopt;
    dims = {static_cast<double>(rows.dims[0]), static_cast<double>(result.dims[1]),
            static_cast<double>(rows.dims[1]), static_cast<double>(other.dims[0]), rows.narrow};
  }
  dims.m *= share_of_groups(operands, dims.groups);
  dims.makes_weights = gradient;
  KernelWork work;
  work.kind = KernelKind::grouped_product;
  work.products.push_back(dims);
  return work;
}

/// rows [m, k] and weights [groups, k, n], or for their gradient rows [m, k] and [m, n] → [groups, k, n].
std::optional<KernelWork> ragged_work(const std::vector<ArrayShape>& operands, const ArrayShape& result) {
  if (operands.size() < 2 || operands[0].dims.size() != 2) return std::nullopt;
  const ArrayShape& weights = result.dims.size() == 3 ? result : operands[1];
  if (weights.dims.size() != 3) return std::nullopt;
  KernelWork work;
  work.kind = KernelKind::grouped_product;
  work.products.push_back({static_cast<double>(operands[0].dims[0]), static_cast<double>(weights.dims[2]),
                           static_cast<double>(weights.dims[1]), static_cast<double>(weights.dims[0]),
                           operands[0].narrow, {}, result.dims.size() == 3});
  return work;
}

}  // namespace

GroupedTile grouped_tile(std::string_view metadata) {
  return {integer_of(metadata, "tile_m"), integer_of(metadata, "tile_k"), integer_of(metadata, "tile_n")};
}

CustomKernel custom_kernel(const HloInstruction& instruction) {
  const auto target = unquoted(attribute_of(instruction, "custom_call_target").value_or(""));
  if (std::find(targets_of_nothing.begin(), targets_of_nothing.end(), target) != targets_of_nothing.end())
    return CustomKernel::nothing;
  if (target == "__cublas$lt$groupedMatmul") return CustomKernel::grouped_gemm;
  if (target.starts_with("__cublas$")) return CustomKernel::matmul;
  if (target == "te_fused_attn_forward_ffi") return CustomKernel::attention_forward;
  if (target == "te_fused_attn_backward_ffi") return CustomKernel::attention_backward;
  if (target.starts_with("__cudnn$fmha"))
    return target.ends_with("Backward") ? CustomKernel::attention_backward : CustomKernel::attention_forward;
  return target == "tpu_custom_call" ? tpu_kernel(instruction.name) : CustomKernel::unknown;
}

std::optional<KernelWork> custom_work(CustomKernel kernel, const HloInstruction& instruction,
                                      const std::vector<ArrayShape>& operands, const ArrayShape& result) {
  switch (kernel) {
    case CustomKernel::unknown:
    case CustomKernel::nothing:
      return std::nullopt;
    case CustomKernel::matmul: {
      if (operands.size() < 2) return std::nullopt;
      const auto dims = product_dims(instruction, operands[0], operands[1], result);
      if (!dims) return std::nullopt;
      KernelWork work;
      work.kind = KernelKind::product;
      work.products.push_back(*dims);
      return work;
    }
    case CustomKernel::attention_forward:
    case CustomKernel::attention_backward:
      return fused_attention(kernel == CustomKernel::attention_backward, instruction, operands);
    case CustomKernel::grouped_gemm:
      return ragged_work(operands, result);
    case CustomKernel::splash_forward:
    case CustomKernel::splash_query_gradient:
    case CustomKernel::splash_key_value_gradient:
      return splash_work(kernel, instruction);
    case CustomKernel::grouped_matmul:
    case CustomKernel::grouped_matmul_gradient:
      return grouped_work(kernel == CustomKernel::grouped_matmul_gradient, operands, result);
  }
  throw InternalError("unknown CustomKernel");
}

}  // namespace shardplan
