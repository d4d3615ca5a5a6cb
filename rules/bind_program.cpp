#include <algorithm>
#include <rules/bind_program.hpp>
#include <rules/merge_rules.hpp>
#include <rules/resolve.hpp>
#include <shardplan/error.hpp>

namespace shardplan {
namespace {

AxisList axes_with(AxisRole role, const Mesh& mesh) {
  const auto axis = mesh.find(role);
  return axis ? AxisList{*axis} : AxisList{};
}

std::size_t batch_place(const Tensor& tensor) {
  for (std::size_t i = 0; i < tensor.dims.size(); ++i)
    if (tensor.dims[i].dim == Dim::batch) return i;
  throw InternalError("tensor '" + tensor.name + "' has no batch dim to peel");
}

std::optional<PartitionSpec> bind(const Tensor& tensor, const Resolver& resolver, const Mesh& mesh) {
  const auto& [axes, peel] = tensor.constraint;
  if (axes.empty()) return std::nullopt;
  if (axes.size() != tensor.dims.size()) throw InternalError("tensor '" + tensor.name + "': one logical axis a dim");
  switch (peel) {
    case Peel::none:
      return resolver.resolve(axes);
    case Peel::experts_from_batch:
      return without_axes(resolver.resolve_each_dim(axes), axes_with(AxisRole::expert, mesh), batch_place(tensor));
    case Peel::fsdp:
      return without_axes(resolver.resolve(axes), axes_with(AxisRole::fsdp, mesh));
    case Peel::fsdp_transpose:
      return without_axes(resolver.resolve(axes), axes_with(AxisRole::fsdp_transpose, mesh));
    case Peel::both_fsdp:
      return without_axes(resolver.resolve(axes), mesh.axes_of(AxisFamily::fsdp));
  }
  throw InternalError("unknown Peel");
}

/// Of the axes of their rule.
AxisList split_by_experts(const AxisList& rule, const Mesh& mesh) {
  return in_mesh_order(without(rule, axes_with(AxisRole::fsdp, mesh)));
}

BoundBlock bind(const Block& block, const Resolver& resolver, const Mesh& mesh) {
  BoundBlock bound{&block, {}};
  bound.specs.reserve(block.tensors.size());
  for (const auto& tensor : block.tensors) bound.specs.push_back(bind(tensor, resolver, mesh));
  return bound;
}

}  // namespace

std::string_view expert_rule(const RuleSet& rules) {
  const bool usual =
      std::any_of(rules.rules.begin(), rules.rules.end(), [](const Rule& rule) { return rule.logical == "exp"; });
  return usual ? "exp" : "expert_only";
}

AxisList expert_axes(const RuleSet& rules, const Mesh& mesh) {
  return split_by_experts(axes_of_rule(rules, mesh, expert_rule(rules)), mesh);
}

std::string constraints_of(const Program& program) {
  std::string text = program.pipeline.stages > 1 ? "pipeline" : "";
  for (const Block& block : program.blocks) {
    text += '\n';
    text += static_cast<char>('0' + static_cast<int>(block.kind));
    text += block.in_pipeline ? 'p' : '-';
    for (const Tensor& tensor : block.tensors) {
      text += ';';
      for (const auto& axis : tensor.constraint.axes) (text += axis) += ',';
      text += static_cast<char>('0' + static_cast<int>(tensor.constraint.peel));
      if (tensor.constraint.peel == Peel::experts_from_batch) text += std::to_string(batch_place(tensor));
    }
  }
  return text;
}

BindingRules::BindingRules(const RuleSet& rules, const Mesh& any)
    : inside(std::make_shared<const CompiledRules>(rules, any)), experts(expert_rule(rules)) {
  if (any.size_of(AxisRole::stage) > 1)
    outside = std::make_shared<const CompiledRules>(rules_outside_pipeline(rules), any);
}

Binder::Binder(const BindingRules& rules, const Mesh& mesh)
    : inside_(rules.inside, mesh), expert_axes_(split_by_experts(inside_.axes_of_rule(rules.experts), mesh)) {
  if (rules.outside) outside_.emplace(rules.outside, mesh);
}

BoundProgram Binder::bind(const Program& program, const Mesh& mesh) const {
  const bool pipelined = program.pipeline.stages > 1;
  if (pipelined && !outside_) throw InternalError("a pipeline on a mesh without stages");
  BoundProgram bound{&program, &mesh, {}, expert_axes_, inside_.axes_of_rule("layers")};
  for (const auto& block : program.blocks) {
    const bool edge = block.kind != BlockKind::layer;  // embedding and head name the stage axis themselves
    bound.blocks.push_back(shardplan::bind(block, pipelined && !block.in_pipeline && !edge ? *outside_ : inside_, mesh));
  }
  return bound;
}

BoundProgram Binder::bind(const Program& program, const std::string& constraints, const Mesh& mesh) const {
  const std::lock_guard lock(mutex_);
  const auto [known, is_new] = bound_.try_emplace(constraints);
  if (is_new) known->second = bind(program, mesh);
  BoundProgram bound = rebind(program, known->second);
  bound.mesh = &mesh;
  return bound;
}

BoundProgram Binder::rebind(const Program& program, BoundProgram other) {
  for (std::size_t i = 0; i < program.blocks.size(); ++i) other.blocks[i].block = &program.blocks[i];
  other.program = &program;
  return other;
}

BoundProgram bind_program(const Program& program, const RuleSet& rules, const Mesh& mesh) {
  return Binder(rules, mesh).bind(program, mesh);
}

}  // namespace shardplan
