#include <shardplan/compiler/vector_kernel.hpp>
#include <utility>

namespace shardplan {
namespace {

constexpr std::array<std::pair<VectorKernel, std::string_view>, vector_kernel_count> kernels{{
    {VectorKernel::normalization, "normalization"},
    {VectorKernel::rotation, "rotation"},
    {VectorKernel::interleaved_rotation, "interleaved_rotation"},
    {VectorKernel::saved_value, "saved_value"},
    {VectorKernel::alone, "alone"},
    {VectorKernel::beside_product, "beside_product"},
    {VectorKernel::token_copies, "token_copies"},
    {VectorKernel::copies_sum, "copies_sum"},
    {VectorKernel::exchanged_rows, "exchanged_rows"},
    {VectorKernel::routed_rows, "routed_rows"},
    {VectorKernel::sorted_rows, "sorted_rows"},
    {VectorKernel::scale_search, "scale_search"},
    {VectorKernel::narrowing, "narrowing"},
    {VectorKernel::stochastic_narrowing, "stochastic_narrowing"},
    {VectorKernel::loss, "loss"},
    {VectorKernel::scores, "scores"},
    {VectorKernel::turned_scores, "turned_scores"},
    {VectorKernel::expert_order, "expert_order"},
    {VectorKernel::expanded_rows, "expanded_rows"},
    {VectorKernel::weight_use, "weight_use"},
    {VectorKernel::weight_gradient, "weight_gradient"},
    {VectorKernel::matrix_gradient, "matrix_gradient"},
    {VectorKernel::update, "update"},
    {VectorKernel::moments, "moments"},
}};

constexpr auto ordered = [] {
  std::array<VectorKernel, vector_kernel_count> all{};
  for (std::size_t i = 0; i < all.size(); ++i) all[i] = kernels[i].first;
  return all;
}();
static_assert([] {
  for (std::size_t i = 0; i < vector_kernel_count; ++i)
    if (static_cast<std::size_t>(kernels[i].first) != i) return false;
  return true;
}());

}  // namespace

std::span<const VectorKernel> all_vector_kernels() { return ordered; }

std::string_view name_of(VectorKernel kernel) { return kernels[static_cast<std::size_t>(kernel)].second; }

}  // namespace shardplan
