#include <models/programs/mixers/experts/expert_weights.hpp>

namespace shardplan {
namespace {

bool is_input(ExpertMatrix matrix) { return matrix == ExpertMatrix::input; }

/// What enters the shard_map. Experts over fsdp are whole there without peeling: the spec doesn't name them; nor is fsdp
/// in that of a batch-split layer.
Constraint shard_map_spec(const Model& model, ExpertMatrix matrix, const TrainConfig& config) {
  if (model.use_batch_split_schedule) return {{"expert_only", "", ""}};
  if (config.use_2d_fsdp_sharding && !config.shard_exp_on_fsdp) return {{"", "mlp_no_fsdp", ""}};
  const std::string_view experts = config.shard_exp_on_fsdp ? "" : "exp";
  const Peel peel = config.shard_exp_on_fsdp ? Peel::none : Peel::fsdp;
  return is_input(matrix) ? Constraint{{experts, "", "mlp_no_fsdp"}, peel}
                          : Constraint{{experts, "mlp_no_fsdp", ""}, peel};
}

}  // namespace

LogicalAxes stored_axes(const Model& model, ExpertMatrix matrix, const TrainConfig& config) {
  if (model.use_batch_split_schedule)  // get_batchsplit_init_kernel_axes
    return is_input(matrix) ? LogicalAxes{"expert_only", "embed_moe", ""} : LogicalAxes{"expert_only", "", "embed_moe"};
  if (config.shard_exp_on_fsdp)
    return is_input(matrix) ? LogicalAxes{"embed_moe", "", "mlp_moe"} : LogicalAxes{"embed_moe", "mlp_moe", ""};
  if (config.use_2d_fsdp_sharding) return {"embed_moe", "mlp_moe", ""};
  return is_input(matrix) ? LogicalAxes{"exp", "embed_moe", "mlp_moe"} : LogicalAxes{"exp", "mlp_moe", "embed_moe"};
}

TensorId add_expert_weight(BlockBuilder& b, const std::string& name, ExpertMatrix matrix, TensorDim embed) {
  const TensorDim experts{Dim::experts, b.model.num_experts}, mlp{Dim::mlp, b.model.moe_mlp};
  const Dims dims = is_input(matrix) ? Dims{experts, embed, mlp} : Dims{experts, mlp, embed};
  const TensorId w = b.weight("MoeBlock_0/" + name, dims, stored_axes(b.model, matrix, b.config));
  b.block.tensors[w].role = is_input(matrix) ? TensorRole::expert_input_weight : TensorRole::expert_output_weight;
  return w;
}

TensorId as_shard_map_input(BlockBuilder& b, TensorId weight, const std::string& name, ExpertMatrix matrix) {
  if (b.config.moe_fsdp_use_two_stage_all_gather) {
    const auto stage = [&](const char* mlp) {
      return is_input(matrix) ? LogicalAxes{"exp_with_fsdp", "", mlp} : LogicalAxes{"exp_with_fsdp", mlp, ""};
    };
    weight = b.constrain("MoeBlock_0/" + name + " by experts", weight, {stage("mlp")});
    weight = b.constrain("MoeBlock_0/" + name + " over fsdp", weight, {stage("mlp_no_fsdp")});
  }
  return b.constrain("MoeBlock_0/" + name + " shard_map input", weight, shard_map_spec(b.model, matrix, b.config));
}

}  // namespace shardplan
