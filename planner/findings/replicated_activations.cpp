#include <fmt/format.h>

#include <algorithm>
#include <cost_models/layouts/layout.hpp>
#include <cost_models/partition/products/product_groups.hpp>
#include <planner/findings/axis_in_rule.hpp>
#include <planner/findings/replicated_activations.hpp>
#include <rules/bind_program.hpp>

namespace shardplan {
namespace {

/// An axis that could split the dims of one logical name, and the activations that would then be split over it.
struct Idle {
  AxisId axis;
  std::string logical;
  std::vector<std::string> activations;  ///< each once
  std::string block;                     ///< of the first
};

/// Stages split layers, replicas of DiLoCo nothing at all.
bool splits_layers_of_a_replica(AxisRole role) { return role != AxisRole::stage && role != AxisRole::diloco; }

AxisList splitting_axes(const Mesh& mesh) {
  AxisList axes;
  for (std::size_t i = 0; i < mesh.axes.size(); ++i)
    if (mesh.axes[i].size() > 1 && splits_layers_of_a_replica(mesh.axes[i].role)) axes.push_back(static_cast<AxisId>(i));
  return axes;
}

/// What a tensor is to the question whether an axis should split it.
enum class Holding : std::uint8_t {
  activation,
  weight,  ///< or a copy of one under another constraint
};

std::vector<Holding> holdings(const Block& block) {
  std::vector<Holding> all;
  for (const Tensor& tensor : block.tensors) all.push_back(tensor.parameter ? Holding::weight : Holding::activation);
  for (const Operation& op : block.operations)
    if (op.kind == OpKind::constrain) all[op.output] = all[op.inputs.front()];
  return all;
}

/// Which dims each axis splits somewhere, a bit a Dim: what splits one tensor's batch could split another's. Of weights
/// only what splits no tokens: fsdp stores them in shards, and gathers these.
class SplitDims {
 public:
  SplitDims(const LaidOutProgram& program, const Mesh& mesh) : by_axis_(mesh.axes.size()), of_weights_(mesh.axes.size()) {
    for (std::size_t b = 0; b < program.program.blocks.size(); ++b) {
      const Block& block = program.program.blocks[b];
      const std::vector<Holding> holding = holdings(block);
      for (std::size_t i = 0; i < block.tensors.size(); ++i)
        add(block.tensors[i], program.specs[b][i], holding[i] == Holding::weight ? of_weights_ : by_axis_);
    }
  }
  bool has(AxisId axis, Dim dim) const {
    const std::uint64_t tokens = bit(Dim::batch) | bit(Dim::sequence);
    const std::uint64_t dims = by_axis_[axis] & tokens ? by_axis_[axis] : by_axis_[axis] | of_weights_[axis];
    return (dims & bit(dim)) != 0;
  }

 private:
  using Dims = std::vector<std::uint64_t>;
  static std::uint64_t bit(Dim dim) { return std::uint64_t{1} << static_cast<int>(dim); }
  static void add(const Tensor& tensor, const PartitionSpec& spec, Dims& dims) {
    for (std::size_t i = 0; i < tensor.dims.size(); ++i)
      for (const AxisId axis : spec.dims[i]) dims[axis] |= bit(tensor.dims[i].dim);
  }

  Dims by_axis_, of_weights_;
};

/// Every query attends to all keys: attention wants the sequence of keys, values and masks whole.
std::vector<bool> whole_sequences(const Block& block) {
  std::vector<bool> whole(block.tensors.size());
  for (const Operation& op : block.operations)
    if (op.kind == OpKind::attention)
      for (std::size_t i = 1; i < op.inputs.size(); ++i) whole[op.inputs[i]] = true;
  return whole;
}

class IdleAxes {
 public:
  IdleAxes(const Configuration& configuration, const LaidOutProgram& program)
      : c_(configuration),
        split_(program, configuration.mesh),
        expert_axes_(expert_axes(configuration.rules, configuration.mesh)) {
    const AxisList axes = splitting_axes(c_.mesh);
    for (std::size_t b = 0; b < program.program.blocks.size(); ++b) {
      const Block& block = program.program.blocks[b];
      const std::vector<Holding> holding = holdings(block);
      const std::vector<bool> whole = whole_sequences(block);
      for (std::size_t i = 0; i < block.tensors.size(); ++i)
        if (holding[i] == Holding::activation) add(block, block.tensors[i], program.specs[b][i], axes, whole[i]);
    }
  }
  const std::vector<Idle>& found() const { return found_; }

 private:
  void add(const Block& block, const Tensor& tensor, const PartitionSpec& spec, const AxisList& axes, bool whole_sequence) {
    if (tensor.constraint.axes.empty()) return;
    // The devices of an expert axis take their own experts of a mask, however it is laid out.
    const AxisList missed = has(tensor.dims, Dim::experts) ? without(axes, expert_axes_) : axes;
    for (const AxisId axis : missed) {
      if (place_of(axis, spec) >= 0) continue;
      for (std::size_t dim = 0; dim < tensor.dims.size(); ++dim)
        if (!whole_sequence || tensor.dims[dim].dim != Dim::sequence) add_dim(block, tensor, spec, axis, dim);
    }
  }

  void add_dim(const Block& block, const Tensor& tensor, const PartitionSpec& spec, AxisId axis, std::size_t dim) {
    const std::string logical(tensor.constraint.axes[dim]);
    const std::int64_t parts = c_.mesh.product(spec.dims[dim]) * c_.mesh.size(axis);
    if (logical.empty() || tensor.dims[dim].size % parts != 0 || !split_.has(axis, tensor.dims[dim].dim)) return;
    if (names_axis(c_.rules, logical, c_.mesh.axes[axis].name)) return;  // another dim keeps it from taking it
    auto known = std::find_if(found_.begin(), found_.end(),
                              [&](const Idle& idle) { return idle.axis == axis && idle.logical == logical; });
    if (known == found_.end()) known = found_.insert(known, {axis, logical, {}, block.name});
    auto& names = known->activations;
    if (std::find(names.begin(), names.end(), tensor.name) == names.end()) names.push_back(tensor.name);
  }

  const Configuration& c_;
  const SplitDims split_;
  const AxisList expert_axes_;
  std::vector<Idle> found_;
};

Finding finding_of(const Idle& idle, const Configuration& c) {
  const MeshAxis& axis = c.mesh.axes[idle.axis];
  const AxisOffer offer = offer_axes(c.rules, idle.logical, {axis.name});
  const auto others = static_cast<std::int64_t>(idle.activations.size()) - 1;
  const std::string first = "'" + idle.activations.front() + "'";
  return {FindingId::activations_replicated,
          Severity::error,
          fmt::format("rule {} leaves out '{}', and nothing else splits {} over it: its {} devices compute and keep the "
                      "same{}",
                      idle.logical, axis.name, others > 0 ? fmt::format("{} and {} more", first, others) : first,
                      axis.size(), offer.is_known ? "" : "; there is no such rule"),
          idle.block + "/" + idle.activations.front(),
          {axis.name},
          offer.words,
          {offer.rule}};
}

}  // namespace

std::vector<Finding> replicated_activations(const Configuration& configuration, const LaidOutProgram& program) {
  std::vector<Finding> findings;
  const IdleAxes idle_axes(configuration, program);
  for (const Idle& idle : idle_axes.found()) findings.push_back(finding_of(idle, configuration));
  return findings;
}

}  // namespace shardplan
