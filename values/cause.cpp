#include <array>
#include <shardplan/collective/cause.hpp>
#include <shardplan/error.hpp>

namespace shardplan {

std::string_view name_of(Cause cause) {
  switch (cause) {
    case Cause::operand_layout:
      return "operand-layout";
    case Cause::gradient_layout:
      return "gradient-layout";
    case Cause::feature_statistics:
      return "feature-statistics";
    case Cause::quantization_scale:
      return "quantization-scale";
    case Cause::contracted_dim_split:
      return "contracted-dim-split";
    case Cause::result_layout:
      return "result-layout";
    case Cause::heads_of_weight_gradient:
      return "heads-of-weight-gradient";
    case Cause::weight_gradient:
      return "weight-gradient";
    case Cause::weight_gradient_each_repeat:
      return "weight-gradient-each-repeat";
    case Cause::activation_gradient_sum:
      return "activation-gradient-sum";
    case Cause::activation_gradient_layout:
      return "activation-gradient-layout";
    case Cause::attention_mask:
      return "attention-mask";
    case Cause::attention_scores:
      return "attention-scores";
    case Cause::attention_ring:
      return "attention-ring";
    case Cause::token_ids:
      return "token-ids";
    case Cause::embedding_columns:
      return "embedding-columns";
    case Cause::embedding_gradient_rows:
      return "embedding-gradient-rows";
    case Cause::embedding_gradient_columns:
      return "embedding-gradient-columns";
    case Cause::scatter_indices:
      return "scatter-indices";
    case Cause::scatter_weights:
      return "scatter-weights";
    case Cause::expert_ids:
      return "expert-ids";
    case Cause::routing_gradient:
      return "routing-gradient";
    case Cause::dispatch_mask_slices:
      return "dispatch-mask-slices";
    case Cause::expert_dispatch:
      return "expert-dispatch";
    case Cause::expert_return:
      return "expert-return";
    case Cause::ring_tokens:
      return "ring-tokens";
    case Cause::ring_gradient:
      return "ring-gradient";
    case Cause::ring_sum:
      return "ring-sum";
    case Cause::stage_shift:
      return "stage-shift";
    case Cause::pipeline_input:
      return "pipeline-input";
    case Cause::pipeline_output:
      return "pipeline-output";
    case Cause::stack_to_repeats:
      return "stack-to-repeats";
    case Cause::stack_to_stages:
      return "stack-to-stages";
    case Cause::stack_gradients:
      return "stack-gradients";
    case Cause::stack_moment_to_data:
      return "stack-moment-to-data";
    case Cause::stack_moment_to_stages:
      return "stack-moment-to-stages";
    case Cause::zero1_permuted_shards:
      return "zero1-permuted-shards";
    case Cause::zero1_step_weights:
      return "zero1-step-weights";
    case Cause::zero1_updated_weights:
      return "zero1-updated-weights";
    case Cause::newton_schulz_gram:
      return "newton-schulz-gram";
    case Cause::newton_schulz_matrix:
      return "newton-schulz-matrix";
    case Cause::newton_schulz_square:
      return "newton-schulz-square";
    case Cause::read_from_program:
      return "read-from-program";
  }
  throw InternalError("unknown Cause");
}

std::span<const Cause> all_causes() {
  static constexpr auto all = [] {
    std::array<Cause, static_cast<std::size_t>(Cause::read_from_program) + 1> causes{};
    for (std::size_t i = 0; i < causes.size(); ++i) causes[i] = static_cast<Cause>(i);
    return causes;
  }();
  return all;
}

}  // namespace shardplan
