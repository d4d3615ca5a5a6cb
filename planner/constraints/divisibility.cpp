#include <fmt/format.h>

#include <algorithm>
#include <planner/constraints/divisibility.hpp>
#include <shardplan/collective/counted.hpp>

namespace shardplan {
namespace {

std::string describe_axes(const AxisList& axes, const Mesh& mesh) {
  std::string text;
  for (const AxisId axis : axes)
    text += fmt::format("{}{}={}", text.empty() ? "" : "·", mesh.axes[axis].name, mesh.size(axis));
  return text;
}

ConstraintId constraint_of(Dim dim) {
  if (dim == Dim::batch) return ConstraintId::batch_divisibility;
  return dim == Dim::sequence ? ConstraintId::sequence_divisibility : ConstraintId::indivisible_dim;
}

/// "6 sequences", "a dim of 100"
std::string size_in_words(Dim dim, std::int64_t size) {
  if (dim == Dim::batch) return counted(size, "sequence");
  return dim == Dim::sequence ? counted(size, "position") : fmt::format("a dim of {}", size);
}

Infeasible in_words(const Tensor& tensor, std::size_t i, const AxisList& axes, const Mesh& mesh) {
  const std::int64_t shards = mesh.product(axes), size = tensor.dims[i].size;
  const std::string split =
      axes.size() == 1 ? describe_axes(axes, mesh) : fmt::format("{} = {}", describe_axes(axes, mesh), shards);
  const std::string_view logical = tensor.constraint.axes[i];
  const Dim dim = tensor.dims[i].dim;
  return {constraint_of(dim),
          fmt::format("{} ({} of the {}) can't be split over {}", size_in_words(dim, size), logical, tensor.name, split),
          shards, size};
}

std::optional<Infeasible> first_indivisible(const Tensor& tensor, const PartitionSpec& spec, const Mesh& mesh) {
  for (std::size_t i = 0; i < spec.dims.size(); ++i)
    if (!spec.dims[i].empty() && tensor.dims[i].size % mesh.product(spec.dims[i]) != 0)
      return in_words(tensor, i, spec.dims[i], mesh);
  return std::nullopt;
}

/// layers/moe.py, _maybe_shard_moe_dispatch (Resolver::resolve_each_dim).
std::optional<Infeasible> names_axis_twice(const Block& block, const Tensor& tensor, const PartitionSpec& spec,
                                           const Mesh& mesh) {
  AxisList named;
  for (const AxisList& axes : spec.dims)
    for (const AxisId axis : axes) {
      if (std::count(named.begin(), named.end(), axis) == 0) {
        named.push_back(axis);
        continue;
      }
      return Infeasible{ConstraintId::dispatch_names_axis_twice,
                        fmt::format("moe_dispatch_no_expert_sharding: {}/{} would be split over {} on two dims, which JAX "
                                    "refuses: leave it out",
                                    block.name, tensor.name, mesh.axes[axis].name),
                        1, 0};
    }
  return std::nullopt;
}

}  // namespace

std::optional<Infeasible> indivisible(const Block& block, const Tensor& tensor, const PartitionSpec& spec,
                                      const Mesh& mesh) {
  for (std::size_t i = 0; i < std::min(tensor.dims.size(), spec.dims.size()); ++i) {
    const std::int64_t shards = mesh.product(spec.dims[i]), size = tensor.dims[i].size;
    if (size % shards == 0) continue;
    return Infeasible{ConstraintId::indivisible_dim,
                      fmt::format("dim {} of {}/{} is {}, which {} can't divide", i, block.name, tensor.name, size,
                                  describe_axes(spec.dims[i], mesh)),
                      shards, size};
  }
  return std::nullopt;
}

std::optional<Infeasible> refused_activation(const BoundProgram& program) {
  for (const auto& [block, specs] : program.blocks)
    for (std::size_t i = 0; i < specs.size(); ++i) {
      if (block->tensors[i].parameter || !specs[i]) continue;
      const bool each_dim = block->tensors[i].constraint.peel == Peel::experts_from_batch;
      if (auto twice = each_dim ? names_axis_twice(*block, block->tensors[i], *specs[i], *program.mesh) : std::nullopt)
        return twice;
      if (auto violation = first_indivisible(block->tensors[i], *specs[i], *program.mesh)) return violation;
    }
  return std::nullopt;
}

}  // namespace shardplan
