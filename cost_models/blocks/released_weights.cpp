#include <algorithm>
#include <cost_models/blocks/released_weights.hpp>

namespace shardplan {
namespace {

class Release {
 public:
  Release(const Block& block, const DataFlow& flow, const Program& program, const Liveness& liveness,
          const Compiler& compiler)
      : block_(block),
        flow_(flow),
        liveness_(liveness),
        shares_iteration_(compiler.has(Habit::gathers_again_in_cycles) && shares_iteration(block, program)),
        leads_on_(shares_iteration_ && leads_to_next_layer(block, program)),
        narrow_heads_(compiler.has(Habit::gathers_narrow_heads_again)),
        before_experts_(compiler.has(Habit::gathers_moe_layer_weights_twice) && block.mixture) {}

  std::vector<bool> all() const {
    std::vector<bool> released(block_.operations.size(), false);
    if (!block_.rematerialized || block_.own_backward) return released;
    for (std::size_t i = 0; i < released.size(); ++i)
      released[i] = liveness_.recomputed[i] && reads_weight(block_.operations[i]) && is_released(i);
    return released;
  }

 private:
  /// A weight, or one under another constraint.
  bool is_weight(TensorId tensor) const { return block_.tensors[flow_.origin(tensor)].parameter; }

  bool reads_weight(const Operation& op) const {
    return std::any_of(op.inputs.begin(), op.inputs.end(), [&](TensorId input) { return is_weight(input); });
  }

  bool is_released(std::size_t i) const {
    const Operation& op = block_.operations[i];
    const bool operand_of_shard_map = std::any_of(op.inputs.begin(), op.inputs.end(), [&](TensorId input) {
      return block_.tensors[input].constraint.peel == Peel::fsdp;
    });
    if (operand_of_shard_map) return false;
    if (before_experts_ && op.module == Module::attention && leads_to_module(i, Module::mixture)) return true;
    if (shares_iteration_ && is_normed_over_all_heads(op)) return true;
    if (leads_on_) return leads_to_output(i);
    const bool projects = op.role == OperationRole::qkv_projection && (shares_iteration_ || (narrow_heads_ && op.narrow));
    return projects && (leads_to_module(i, Module::mlp) || leads_to_module(i, Module::mixture));
  }

  /// A projection whose rows are normed as one (olmo3: GlobalRMSNorm) reads its weight as a matrix [embed, heads * head_dim]
  /// when it runs again; the gradient of its input, by heads: two gathers (plan_olmo37b_tpuv5p_16; not with a norm of each
  /// head, plan_gemma312b_tpu7x_8).
  bool is_normed_over_all_heads(const Operation& projection) const {
    return projection.role == OperationRole::qkv_projection &&
           std::any_of(block_.operations.begin(), block_.operations.end(), [&](const Operation& op) {
             return op.kind == OpKind::normalization && flow_.origin(op.inputs.front()) == projection.output &&
                    block_.tensors[op.inputs.back()].dims.size() == 2;
           });
  }

  /// Operations that run again because they read what operation `i` recomputes.
  std::vector<bool> recomputed_from(std::size_t i) const {
    std::vector<bool> made(block_.tensors.size(), false), reached(block_.operations.size(), false);
    made[block_.operations[i].output] = true;
    for (std::size_t next = i + 1; next < block_.operations.size(); ++next) {
      const Operation& op = block_.operations[next];
      const bool reads = std::any_of(op.inputs.begin(), op.inputs.end(), [&](TensorId t) { return made[t]; });
      reached[next] = reads && liveness_.recomputed[next];
      if (reached[next]) made[op.output] = true;
    }
    reached[i] = true;
    return reached;
  }

  bool leads_to_module(std::size_t i, Module module) const {
    const auto reached = recomputed_from(i);
    for (std::size_t next = i + 1; next < reached.size(); ++next)
      if (reached[next] && block_.operations[next].module == module) return true;
    return false;
  }

  bool leads_to_output(std::size_t i) const {
    const auto reached = recomputed_from(i);
    for (std::size_t next = 0; next < reached.size(); ++next)
      if (reached[next] && block_.operations[next].output == block_.output) return true;
    return false;
  }

  const Block& block_;
  const DataFlow& flow_;
  const Liveness& liveness_;
  const bool shares_iteration_, leads_on_, narrow_heads_, before_experts_;
};

}  // namespace

bool shares_iteration(const Block& block, const Program& program) {
  return block.kind == BlockKind::layer && !block.own_loop &&
         (block.layers_per_cycle > 1 || block.continues_cycle || leads_to_next_layer(block, program));
}

bool leads_to_next_layer(const Block& block, const Program& program) {
  const auto at = static_cast<std::size_t>(&block - program.blocks.data());
  const bool continued = at + 1 < program.blocks.size() && program.blocks[at + 1].continues_cycle;
  return block.layers_per_cycle > 1 || continued;
}

std::vector<bool> released_weights(const Block& block, const DataFlow& flow, const Program& program,
                                   const Liveness& liveness, const Compiler& compiler) {
  return Release(block, flow, program, liveness, compiler).all();
}

}  // namespace shardplan
