#include <fmt/format.h>

#include <planner/words/collective_words.hpp>
#include <planner/words/operand_words.hpp>
#include <shardplan/error.hpp>

namespace shardplan {
namespace {

const Block& block_of(const Collective& c, const Program& program) {
  if (c.block < 0 || c.block >= static_cast<BlockId>(program.blocks.size()))
    throw InternalError(fmt::format("a {} of no block of the program", name_of(c.kind)));
  return program.blocks[c.block];
}

/// An operation's place by its name, as MaxText calls it: "self_attention/query" is "query" of "self_attention".
Place place_of(const Operation& operation, const Block& block) {
  const auto module = operation.name.find('/');
  if (module == std::string::npos) return {block.name, operation.name, ""};
  return {block.name, operation.name.substr(0, module), operation.name.substr(module + 1)};
}

Place with_part(Place place, const std::string& part) {
  place.operation += (place.operation.empty() ? "" : "/") + part;
  return place;
}

Place place_in_block(const Collective& c, const Block& block) {
  const auto named = [&] { return place_of(block.operations.at(c.operation), block); };
  const auto part_of = [&](const std::string& part) { return with_part(named(), part); };
  const auto tensor = [&] { return block.tensors.at(c.tensor).name; };
  switch (c.cause) {
    case Cause::operand_layout:
    case Cause::gradient_layout:
    case Cause::feature_statistics:
    case Cause::quantization_scale:
    case Cause::contracted_dim_split:
    case Cause::result_layout:
    case Cause::heads_of_weight_gradient:
    case Cause::weight_gradient:
    case Cause::weight_gradient_each_repeat:
    case Cause::activation_gradient_sum:
    case Cause::activation_gradient_layout:
    case Cause::attention_mask:
    case Cause::attention_scores:
    case Cause::attention_ring:
    case Cause::token_ids:
    case Cause::embedding_columns:
    case Cause::embedding_gradient_rows:
    case Cause::embedding_gradient_columns:
    case Cause::expert_dispatch:
    case Cause::expert_return:
      return named();
    case Cause::scatter_indices:
      return part_of("scatter_indices");
    case Cause::scatter_weights:
      return part_of("scatter_weights");
    case Cause::expert_ids:
      return part_of("expert_ids");
    case Cause::routing_gradient:
      return part_of("routing_gradient");
    case Cause::dispatch_mask_slices:
      return part_of("mask");
    case Cause::ring_tokens:
    case Cause::ring_gradient:
    case Cause::ring_sum:
      return part_of(tensor());
    case Cause::stage_shift:
      return {block.name, "pipeline", "shift"};
    case Cause::pipeline_input:
      return {block.name, "pipeline", "input"};
    case Cause::pipeline_output:
      return {block.name, "pipeline", "output"};
    case Cause::stack_to_repeats:
    case Cause::stack_to_stages:
    case Cause::stack_gradients:
    case Cause::stack_moment_to_data:
    case Cause::stack_moment_to_stages:
      return {block.name, "layer_stack", tensor()};
    case Cause::zero1_permuted_shards:
    case Cause::zero1_step_weights:
    case Cause::zero1_updated_weights:
      return {block.name, "zero1", tensor()};
    case Cause::newton_schulz_gram:
    case Cause::newton_schulz_matrix:
    case Cause::newton_schulz_square:
      return {block.name, "muon", tensor()};
    case Cause::read_from_program:
      break;
  }
  throw InternalError(fmt::format("a planned {} with cause {}", name_of(c.kind), name_of(c.cause)));
}

std::string axes_of(const PartitionSpec& spec, const Mesh& mesh) {
  AxisList all;
  for (const auto& axes : spec.dims) all.append(axes);
  return joined_axes(all, mesh);
}

}  // namespace

LayoutView view_of(const LaidOutProgram& program) {
  LayoutView view{program.program, {}};
  for (const auto& specs : program.specs) view.specs.emplace_back(specs);
  return view;
}

Place place_of(const Collective& c, const Program& program) { return place_in_block(c, block_of(c, program)); }

std::string place_in_words(const Collective& c, const Program& program) {
  const Place place = place_of(c, program);
  return fmt::format("{}/{}{}{}", place.block, place.module, place.operation.empty() ? "" : "/", place.operation);
}

std::string reason_in_words(const Collective& c, const LayoutView& program, const Mesh& mesh) {
  const Block& block = block_of(c, program.program);
  const auto operation = [&] { return block.operations.at(c.operation).name; };
  const auto tensor = [&] { return block.tensors.at(c.tensor).name; };
  const auto summed = [&] { return joined_axes(c.from.partial, mesh); };
  const bool forward = c.phase != Phase::backward;
  switch (c.cause) {
    case Cause::operand_layout:
      return operand_reason(c, program, mesh);
    case Cause::gradient_layout:
      return fmt::format("gradient of '{}' is needed in another layout by the gradient of {}", tensor(), operation());
    case Cause::feature_statistics:
      return "statistics over a feature dim that is split over " + summed();
    case Cause::quantization_scale:
      return fmt::format("the largest number of each channel of '{}' is looked for on {}", tensor(), summed());
    case Cause::contracted_dim_split:
      return fmt::format("the contracted dim is split over {}: each device holds a partial sum of '{}'", summed(),
                         tensor());
    case Cause::result_layout:
      return fmt::format("'{}' is computed on {} and its constraint wants it elsewhere", tensor(),
                         axes_of(c.from.spec, mesh));
    case Cause::heads_of_weight_gradient:
      return fmt::format("the gradient of weight '{}' leaves the input's dim for its heads", tensor());
    case Cause::weight_gradient:
      return fmt::format("gradient of weight '{}' is summed over the axes that split its tokens: {}", tensor(),
                         summed());
    case Cause::weight_gradient_each_repeat:
      return fmt::format("pipeline_fsdp_ag_per_repeat: the gradient of a repeat's weight '{}' is summed before the "
                         "gather's own gradient scatters it",
                         tensor());
    case Cause::activation_gradient_sum:
      return fmt::format("gradient of '{}' is summed over {}", tensor(), summed());
    case Cause::activation_gradient_layout:
      return fmt::format("gradient of '{}' goes back to the layout of its constraint", tensor());
    case Cause::attention_mask:
      return "the attention kernel is not inside shard_map, so its mask is gathered too";
    case Cause::attention_scores:
      return "a device multiplies all queries with its own keys: what belongs to a query is summed over them, scores change "
             "places for their gradient";
    case Cause::attention_ring:
      return fmt::format("'{}'{} goes round the devices that share its sequence, part by part", tensor(),
                         forward ? "" : " or its gradient");
    case Cause::token_ids:
      return "every device looks all token ids up in its own columns of the table";
    case Cause::embedding_columns:
      return "looked-up columns of all tokens become whole rows of this device's tokens";
    case Cause::embedding_gradient_rows:
      return "each data shard of the table's gradient takes its rows from all tokens'";
    case Cause::embedding_gradient_columns:
      return "rows of this device's tokens become columns for the table's gradient";
    case Cause::scatter_indices:
      return "scatter indices (batch, sequence, expert) of all tokens";
    case Cause::scatter_weights:
      return "routing weights scattered into a global [batch, sequence, experts]";
    case Cause::expert_ids:
      return "expert ids of all tokens";
    case Cause::routing_gradient:
      return "gradient of the scattered routing weights, all tokens";
    case Cause::dispatch_mask_slices:
      return "masks are made in the slices that the combine reads; the dispatch needs all of its own";
    case Cause::expert_dispatch:
      return "tokens go to the devices of their experts";
    case Cause::expert_return:
      return "expert outputs go back to their tokens' devices";
    case Cause::ring_tokens:
      return "every expert device needs all tokens of its group";
    case Cause::ring_gradient:
      return "gradient of the combined output: every expert device needs all tokens of its group";
    case Cause::ring_sum:
      return "each expert device has a part of every token's sum";
    case Cause::stage_shift:
      return forward ? "activations go to the next stage, buffers rotate, each iteration"
                     : "gradients go back along the stages, each iteration";
    case Cause::pipeline_input:
      return forward ? "the batch becomes microbatches of the stages"
                     : "gradients of microbatches become those of the batch";
    case Cause::pipeline_output:
      return forward ? "microbatches become the batch of the head" : "the head's gradient becomes microbatches";
    case Cause::stack_to_repeats:
      return "all layer weights move from stages to repeats at the start of the step";
    case Cause::stack_to_stages:
      return "and back to stages before the pipeline uses them";
    case Cause::stack_gradients:
      return "gradients of all layers move from stages to repeats";
    case Cause::stack_moment_to_data:
      return "a moment's update goes to its data shard";
    case Cause::stack_moment_to_stages:
      return "a moment's update goes back to the stages";
    case Cause::zero1_permuted_shards:
      return "data comes before the axes that already split the dim: shards change places, and where the update mixes both "
             "orders it gathers them whole";
    case Cause::zero1_step_weights:
      return "between steps each device keeps a data shard of the weight: it is gathered for the step";
    case Cause::zero1_updated_weights:
      return "each data shard of the optimizer updates its part of the weight; the parts are gathered";
    case Cause::newton_schulz_gram:
      return "Newton-Schulz contracts over a matrix dim that is split: each step sums its Gram matrices";
    case Cause::newton_schulz_matrix:
      return "Newton-Schulz multiplies a matrix that is split on the dim it keeps with itself: each step gathers it";
    case Cause::newton_schulz_square:
      return "and its Gram matrix, to square it";
    case Cause::read_from_program:
      break;
  }
  throw InternalError(fmt::format("a planned {} with cause {}", name_of(c.kind), name_of(c.cause)));
}

NamedCollective in_words(const Collective& collective, const LayoutView& program, const Mesh& mesh) {
  return {collective, place_in_words(collective, program.program), reason_in_words(collective, program, mesh)};
}

std::vector<NamedCollective> in_words(const std::vector<Collective>& collectives, const LayoutView& program,
                                      const Mesh& mesh) {
  std::vector<NamedCollective> named;
  for (const auto& collective : collectives) named.push_back(in_words(collective, program, mesh));
  return named;
}

std::vector<NamedCollective> named_collectives(const Evaluation& evaluation) {
  if (evaluation.collectives.empty()) return {};
  if (!evaluation.laid_out) throw InternalError("collectives without the program that they are of");
  return in_words(evaluation.collectives, view_of(*evaluation.laid_out), evaluation.mesh);
}

}  // namespace shardplan
