#include <fmt/format.h>

#include <planner/words/operand_words.hpp>

namespace shardplan {
namespace {

class OperandWords {
 public:
  OperandWords(const Collective& collective, const LayoutView& program, const Mesh& mesh)
      : collective_(collective),
        block_(program.program.blocks[collective.block]),
        specs_(program.specs[collective.block]),
        mesh_(mesh) {}

  std::string reason() const {
    const TensorId source = root(collective_.tensor);
    const Tensor& t = block_.tensors[source];
    const char* kind = t.parameter ? "weight" : "activation";
    const std::string held = places(source, specs_[source]);
    if (collective_.purpose() == CollectiveKind::all_gather)
      return fmt::format("{} '{}' has {}, but {}: it is gathered{}", kind, t.name, held, rival(source),
                         collective_.in_place_of_gather ? ", by an all-reduce of shards among zeros" : "");
    return fmt::format("{} '{}' has {}, {} needs {}", kind, t.name, held, operation().name,
                       places(collective_.tensor, collective_.to));
  }

 private:
  const Operation& operation() const { return block_.operations[collective_.operation]; }

  /// What a tensor is under the names that constraints give it.
  TensorId root(TensorId tensor) const {
    for (const auto& op : block_.operations)
      if (op.kind == OpKind::constrain && op.output == tensor) return root(op.inputs.front());
    return tensor;
  }

  /// "expert on its batch (rule activation_batch_moe)": where a tensor has the axes, empty if it has none of them.
  std::string places(TensorId tensor, const PartitionSpec& spec) const {
    const Tensor& t = block_.tensors[tensor];
    std::string text;
    for (std::size_t dim = 0; dim < spec.dims.size(); ++dim) {
      const AxisList here = common(spec.dims[dim], collective_.axes);
      if (here.empty()) continue;
      const std::string_view rule = t.constraint.axes.empty() ? "" : t.constraint.axes[dim];
      text += fmt::format("{}{} on its {}{}", text.empty() ? "" : ", ", joined_axes(here, mesh_),
                          name_of(t.dims[dim].dim), rule.empty() ? "" : fmt::format(" (rule {})", rule));
    }
    return text;
  }

  /// Who has the axes that `tensor` must give up: the operation's result or its other operand.
  std::string rival(TensorId tensor) const {
    std::vector<TensorId> others = {operation().output};
    for (const TensorId input : operation().inputs)
      if (root(input) != tensor) others.push_back(input);
    for (const TensorId other : others)
      if (const auto where = places(other, specs_[other]); !where.empty())
        return fmt::format("'{}' has {}", block_.tensors[other].name, where);
    return operation().name + " works on all of it";
  }

  const Collective& collective_;
  const Block& block_;
  std::span<const PartitionSpec> specs_;
  const Mesh& mesh_;
};

}  // namespace

std::string joined_axes(const AxisList& axes, const Mesh& mesh) { return join_axes(names_of(axes, mesh)); }

std::string operand_reason(const Collective& collective, const LayoutView& program, const Mesh& mesh) {
  return OperandWords(collective, program, mesh).reason();
}

}  // namespace shardplan
