#include <algorithm>
#include <cost_models/blocks/released_weights.hpp>
#include <shardplan/error.hpp>

namespace shardplan {
namespace {

/// Products in a row, in layers that nothing scans: query, key and value of gemma3 have attention, its output and two of
/// the feed-forward behind them, the output of gemma4_small the feed-forward and the layer's own input. Three aren't far
/// (llama; gemma4_small's wi).
constexpr int far_products = 4;

/// Whether an iteration of sparse experts is peeled off the layers' loop, between the passes of what is before it. The
/// dropping path's is short enough to merge gathers across (deepseek216bx5_v6e4_fsdp4_dm).
bool is_peeled(const Liveness& liveness, const TrainConfig& config, const Compiler& compiler) {
  return compiler.has(Habit::parts_single_layer_scans) && compiler.has(Habit::peels_offloading_loops) &&
         config.runs_sparse_experts() && liveness.step_offloads;
}

/// Whether another layer of multi-token prediction stands behind it, as in a predicting cycle.
bool leads_to_predicting_layer(const Block& block, const Program& program) {
  const auto next = static_cast<std::size_t>(&block - program.blocks.data()) + 1;
  return block.single_run == SingleRun::later_tokens && next < program.blocks.size() &&
         program.blocks[next].single_run == SingleRun::later_tokens;
}

class Release {
 public:
  Release(const Block& block, const DataFlow& flow, const Program& program, const Liveness& liveness,
          const TrainConfig& config, const Compiler& compiler)
      : block_(block),
        flow_(flow),
        liveness_(liveness),
        saved_(config.saved),
        peeled_(is_peeled(liveness, config, compiler)),
        shares_iteration_(compiler.has(Habit::gathers_again_in_cycles) && shares_iteration(block, program)),
        merges_near_gathers_(compiler.has(Habit::gathers_again_in_cycles)),
        leads_on_(shares_iteration_ && leads_to_next_layer(block, program)),
        written_out_(compiler.has(Habit::gathers_again_in_cycles) && block.kind == BlockKind::layer &&
                     !config.scan_layers && !block.in_pipeline),
        predicts_on_(leads_to_predicting_layer(block, program)),
        narrow_heads_(compiler.has(Habit::gathers_narrow_heads_again)),
        before_experts_(compiler.has(Habit::gathers_moe_layer_weights_twice) && block.mixture) {}

  std::vector<bool> all() const {
    std::vector<bool> released(block_.operations.size(), false);
    if (block_.own_backward) return released;
    if (!block_.rematerialized) return far_in_one_run();
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
    if (is_operand_of_shard_map(op)) return false;
    if (before_experts_ && op.module == Module::attention && leads_to_module(i, Module::mixture)) return true;
    if (shares_iteration_ && is_normed_over_all_heads(op)) return true;
    if (leads_on_) return leads_to_output(i);
    if (written_out_ && op.module == Module::attention && products_behind(i) >= far_products) return true;
    const bool narrow = narrow_heads_ && op.narrow && op.narrow->input_gradient;
    const bool projects = op.role == OperationRole::qkv_projection && (shares_iteration_ || narrow);
    return projects && (leads_to_module(i, Module::mlp) || leads_to_module(i, Module::mixture));
  }

  /// A layer that runs once: of weights that are far from their gradients, which ones.
  std::vector<bool> far_in_one_run() const {
    std::vector<bool> released(block_.operations.size(), false);
    if (block_.layers_per_cycle > 1 || block_.continues_cycle) return released;
    for (std::size_t i = 0; i < released.size(); ++i) {
      const Operation& op = block_.operations[i];
      released[i] = reads_weight(op) && !is_operand_of_shard_map(op) && is_far_in_one_run(op);
    }
    return released;
  }

  /// Where the recomputation is merged, only what it doesn't begin with: attention's weights whose product is saved. A
  /// compiler that merges no gathers (XLA:GPU) merges the rest of the recomputation alone (nine programs of deepseek2-16b,
  /// whose dense layer's 162 MB are gathered twice).
  bool is_far_in_one_run(const Operation& op) const {
    if (!merges_near_gathers_) return block_.single_run == SingleRun::merged;
    const bool in_attention = op.module == Module::attention;
    switch (block_.single_run) {
      case SingleRun::no:
        return false;
      case SingleRun::merged:
        return peeled_ || (in_attention && is_before_saved_attention(op));
      case SingleRun::parted:
        return true;
      case SingleRun::later_tokens:
        return op.kind == OpKind::einsum && is_far_from_head(op);
    }
    throw InternalError("unknown SingleRun");
  }

  /// Of a layer of multi-token prediction: all weights where other such layers follow (olmo37bx8_v5p8_fsdp8_mtp), else the
  /// joint projection and attention's, whose output projection is near where only a dense feed-forward lies between
  /// (gemma7bx4_v5p8_fsdp8_mtp; ds16mtp_v5p8_fsdp8).
  bool is_far_from_head(const Operation& op) const {
    if (predicts_on_ || op.module == Module::none) return true;
    return op.module == Module::attention && (block_.mixture || !is_behind_attention(op));
  }

  bool is_behind_attention(const Operation& op) const {
    const auto& ops = block_.operations;
    return std::any_of(ops.begin(), ops.end(),
                       [&](const Operation& other) { return other.kind == OpKind::attention && &other < &op; });
  }

  bool is_operand_of_shard_map(const Operation& op) const {
    return std::any_of(op.inputs.begin(), op.inputs.end(), [&](TensorId input) {
      return block_.tensors[input].constraint.peel == Peel::fsdp;
    });
  }

  bool is_saved(TensorId tensor) const {
    const auto& names = block_.tensors[flow_.origin(tensor)].checkpoint_names;
    return std::any_of(names.begin(), names.end(), [&](const std::string& name) {
      const auto place = saved_.find(name);
      return place != saved_.end() && place->second != SavePlace::recompute;
    });
  }

  bool is_before_saved_attention(const Operation& op) const {
    const auto& ops = block_.operations;
    const auto is_kernel = [](const Operation& other) { return other.kind == OpKind::attention; };
    const auto kernel = std::find_if(ops.begin(), ops.end(), is_kernel);
    return kernel != ops.end() && &op < &*kernel &&
           std::all_of(kernel->inputs.begin(), kernel->inputs.end(), [&](TensorId read) { return is_saved(read); });
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

  /// The longest chain of products and kernels that run again because they read what operation `i` recomputes.
  int products_behind(std::size_t i) const {
    std::vector<int> behind(block_.tensors.size(), -1);
    behind[block_.operations[i].output] = 0;
    int most = 0;
    for (std::size_t next = i + 1; next < block_.operations.size(); ++next) {
      const Operation& op = block_.operations[next];
      if (!liveness_.recomputed[next]) continue;
      int before = -1;
      for (const TensorId input : op.inputs) before = std::max(before, behind[input]);
      if (before < 0) continue;
      behind[op.output] = before + (op.kind == OpKind::einsum || op.kind == OpKind::attention ? 1 : 0);
      most = std::max(most, behind[op.output]);
    }
    return most;
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
  const std::map<std::string, SavePlace>& saved_;
  const bool peeled_;
  const bool shares_iteration_, merges_near_gathers_, leads_on_, written_out_, predicts_on_, narrow_heads_, before_experts_;
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

std::vector<bool> recomputed_for_next_layer(const Block& block, const Program& program, const Liveness& liveness) {
  std::vector<bool> leads(block.operations.size(), false), read(block.tensors.size(), false);
  read[block.output] = leads_to_next_layer(block, program);
  for (std::size_t i = block.operations.size(); i-- > 0;) {
    const Operation& op = block.operations[i];
    leads[i] = liveness.recomputed[i] && read[op.output];
    if (!leads[i]) continue;
    for (const TensorId input : op.inputs) read[input] = true;
  }
  return leads;
}

std::vector<bool> released_weights(const Block& block, const DataFlow& flow, const Program& program,
                                   const Liveness& liveness, const TrainConfig& config, const Compiler& compiler) {
  return Release(block, flow, program, liveness, config, compiler).all();
}

}  // namespace shardplan
