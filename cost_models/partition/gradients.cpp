#include <algorithm>
#include <cost_models/partition/gradients.hpp>
#include <cost_models/layouts/optimizer_layout.hpp>
#include <cost_models/layouts/tiles.hpp>
#include <cost_models/moves/emitted_kinds.hpp>
#include <cost_models/moves/scattered_rows.hpp>

namespace shardplan {
Gradients::Gradients(const BoundProgram& program, const Block& block, const std::vector<PartitionSpec>& specs,
                     const TrainConfig& config, const Compiler& compiler, const MaskSlices& masks, const Forms& forms,
                     Recorder& recorder)
    : program_(program),
      block_(block),
      specs_(specs),
      config_(config),
      compiler_(compiler),
      masks_(masks),
      mesh_(*program.mesh),
      forms_(forms),
      recorder_(recorder) {
  contributions_.reserve(block.tensors.size());
  partial_.reserve(block.tensors.size());
}

void Gradients::contribute(TensorId id, Layout layout, const Operation& op, bool apart) {
  if (!tensor(id).differentiable) return;
  if (pass_constraints()) id = forms_.root(id);
  const auto known = std::find_if(contributions_.begin(), contributions_.end(), [&](const Contribution& c) {
    return c.tensor == id && c.layout == layout && c.apart == apart;
  });
  if (known != contributions_.end()) return add_to(*known);
  std::optional<std::size_t> buffer;
  if (!layout.partial.empty() || layout.spec != specs_[id]) {
    buffer = partial_.size();
    partial_.push_back({{id, " gradient from ", id_of(op)}, stored_bytes(tensor(id), layout.spec, mesh_, compiler_),
                        forms_.step(), forms_.step()});
  }
  contributions_.push_back({id, std::move(layout), &op, apart, buffer, {}});
}

/// Where products of one sum are fused the last one adds what the others have made, in the place of the first: of three
/// (query, key and value) two exist until then (recorded on v6e under tensor parallelism:
/// llama27bx4_v6e16_tp16_minoff_bf16weights). Where they aren't fused, a product that adds to what another has made reads
/// that and writes the sum: both exist for a step (recorded on 7x: gradients of what query, key and value, wi_0 and wi_1
/// read).
void Gradients::add_to(Contribution& sum) {
  if (!sum.buffer || sum.layout.partial.empty()) return;
  if (!compiler_.has(Habit::runs_weight_gradients_beside_collectives)) {
    if (!compiler_.has(Habit::runs_split_layers_as_read)) return;
    partial_[*sum.buffer].last = forms_.step();
    Lifetime before = partial_[*sum.buffer];
    before.first = sum.added.value_or(before.last);
    if (sum.added) partial_.push_back(before);
    sum.added = before.last;
    return;
  }
  partial_[*sum.buffer].last = forms_.step();
  Lifetime result = partial_[*sum.buffer];
  result.first = forms_.step();
  sum.buffer = partial_.size();
  partial_.push_back(result);
}

AxisList Gradients::take_sums(TensorId id) {
  AxisList taken;
  for (Contribution& contribution : contributions_) {
    if (contribution.tensor != id) continue;
    taken.append(without(contribution.layout.partial, taken));
    contribution.layout.partial = {};
  }
  return in_mesh_order(taken);
}

/// A kernel's shard_map sums the gradient of what it takes whole (keys, under context parallelism), and behind the
/// constraint it is split again: XLA makes a reduce-scatter of an all-reduce that is sliced (reduce_scatter_creator.cc; on
/// TPUs a fusion, all-reduce-scatter). So it is in all recorded programs for v5p and v6e that sum keys so
/// (plan_llama318b_tpuv6e_32_s32768_4M) but ll8_v5p8_cp4fsdp2, where a product took the slice in.
void Gradients::scatter_what_is_sliced(TensorId constrained, const PartitionSpec& wanted, Moves& moves) const {
  const PartitionSpec& behind = specs_[forms_.root(constrained)];
  for (Move& move : moves) {
    const bool is_sliced = std::ranges::all_of(move.axes, [&](AxisId axis) {
      return place_of(axis, behind) >= 0 && place_of(axis, wanted) < 0;
    });
    if (move.kind == CollectiveKind::all_reduce && is_sliced) move.kind = CollectiveKind::reduce_scatter;
  }
}

namespace {

/// Whether the gradient of hidden rows stays as wo's weights left it: MaxText constrains what they are made of, not them
/// (mixtral8x7bx4_v5p8_ep8_offdispatch). Where products are laid out by size it doesn't
/// (qwen3235ba22b_7x128_expert128_fix_save_out_proj).
bool stays_split(const Layout& layout, const Operation& op, const Compiler& compiler) {
  return op.role == OperationRole::expert_output && layout.partial.empty() &&
         !compiler.has(Habit::lays_out_products_by_size);
}

}  // namespace

void Gradients::settle(TensorId id) {
  for (const auto& [tensor_id, layout, op, apart, buffer, added] : contributions_) {
    if (tensor_id != id) continue;
    const PartitionSpec wanted = target(id);
    if (!has_to_move(layout, wanted) || stays_split(layout, *op, compiler_)) continue;
    const Cause cause = layout.partial.empty() ? Cause::activation_gradient_layout : Cause::activation_gradient_sum;
    Moves moves = reshard(tensor(id), layout, wanted, mesh_, compiler_);
    if (op->kind == OpKind::attention) scatter_what_is_sliced(id, wanted, moves);
    recorder_.record_all(Phase::backward, moves, {id_of(*op), id, cause, layout, wanted}, RunCount::body);
  }
  std::erase_if(contributions_, [&](const Contribution& c) { return c.tensor == id; });
}

PartitionSpec Gradients::target(TensorId id) const {
  if (id == masks_.mask) return masks_.spec;
  return tensor(id).parameter ? gradient_spec(tensor(id), specs_[id], block_, program_, config_) : specs_[id];
}

PartitionSpec Gradients::of_product(TensorId id) const {
  const bool constrained = tensor(id).parameter && is_constrained(tensor(id), block_, config_);
  return constrained ? specs_[id] : target(id);
}

/// Whether an operation further up reads it too, whose gradient comes later.
bool Gradients::is_read_before(TensorId parameter, const Operation& op) const {
  return std::any_of(block_.operations.data(), &op, [&](const Operation& before) {
    return before.kind != OpKind::constrain &&
           std::any_of(before.inputs.begin(), before.inputs.end(),
                       [&](TensorId input) { return forms_.root(input) == parameter; });
  });
}

void Gradients::reduce_parameter(TensorId parameter, const Layout& gradient, const Operation& op) {
  if (block_.in_pipeline && config_.pipeline_fsdp_ag_per_repeat) return reduce_each_repeat(parameter, gradient, op);
  sum_parameter(parameter, gradient, target(parameter), op);
}

bool Gradients::adds_up_whole() const {
  return block_.in_pipeline && config_.pipeline_fsdp_ag_once && !config_.shard_mode_explicit &&
         compiler_.has(Habit::reduces_after_pipeline);
}

void Gradients::reduce_constrained(TensorId parameter, TensorId constrained, const Layout& gradient,
                                   const Operation& op) {
  const bool over_data = target(parameter) != specs_[parameter];
  const bool in_turn = compiler_.has(Habit::sums_over_several_dims_at_once);
  if (over_data || is_held_whole(parameter) || adds_up_whole() || (!in_turn && is_summed_at_once(parameter, gradient)))
    return reduce_parameter(parameter, gradient, op);
  Layout first = gradient, rest = gradient;
  erase_if(first.partial, [&](AxisId axis) { return place_of(axis, specs_[constrained]) < 0; });
  if (first.partial.empty() || first.partial.size() == gradient.partial.size())
    return reduce_parameter(parameter, gradient, op);
  PartitionSpec there = gradient.spec;
  for (const AxisId axis : first.partial) there.dims[place_of(axis, specs_[constrained])].push_back(axis);
  sum_parameter(parameter, first, there, op);
  rest.partial = without(rest.partial, first.partial);
  rest.spec = there;
  reduce_parameter(parameter, rest, op);
}

/// The gather of a repeat's weights is a shard_map whose gradient is a reduce-scatter. Outside of it the compiler wants
/// the gradient summed already, once a repeat and once more for the iterations that drain the pipeline (recorded).
void Gradients::reduce_each_repeat(TensorId parameter, const Layout& gradient, const Operation& op) {
  const bool drained = compiler_.has(Habit::reduces_drained_repeat);
  recorder_.record_all(Phase::backward, reshard(tensor(parameter), gradient, gradient.spec, mesh_, compiler_),
                       {id_of(op), parameter, Cause::weight_gradient_each_repeat, gradient, gradient.spec},
                       drained ? RunCount::each_repeat_and_drained : RunCount::each_repeat);
  Layout scattered = gradient;
  scattered.partial = common(scattered.partial, axes_of(specs_[parameter]));
  sum_parameter(parameter, scattered, specs_[parameter], op);
}

/// Over the axes that split the parameter and those that hold copies of it, or those that split several of its dims, where
/// the compiler makes one sum of both. Everywhere one is made of experts that a shard_map takes whole: its gradient is one
/// psum over all axes that the map's output doesn't have (ds236x3_v5p192_dp3_fsdp64_loop), and ZeRO-1's shards of several
/// dims are cut from one (v5p, v6e: wo of ll7x4_v5p8_zero1_dp2_fsdp4_loop, ll8x4_v6e8_zero1_dp4_fsdp2_loop).
bool Gradients::is_summed_at_once(TensorId parameter, const Layout& gradient) const {
  if (block_.in_pipeline) return false;
  const PartitionSpec wanted = target(parameter);
  const bool one_psum = enters_shard_map(tensor(parameter), block_, config_);
  const bool together = one_psum || compiler_.has(Habit::sums_shards_and_copies_at_once);
  const auto dims = std::count_if(wanted.dims.begin(), wanted.dims.end(),
                                  [&](const AxisList& dim) { return !common(dim, gradient.partial).empty(); });
  if (dims > 1 && compiler_.has(Habit::sums_over_several_dims_at_once)) return true;
  if (!together && wanted == specs_[parameter]) return false;
  if (dims > 1) return true;
  const AxisList shards = common(gradient.partial, axes_of(wanted));
  return together && !shards.empty() && shards.size() < gradient.partial.size();
}

/// One sum, of which each device keeps a slice. Where shards of several dims are summed so, copies sum the slices
/// (all_reduce_splitter.h; recorded on H100: qwen314b_h100x16_fsdp4_fsdp_transpose2_dcndata2_save_dot_except_mlp).
Moves Gradients::moves_at_once(TensorId parameter, const Layout& gradient, const PartitionSpec& wanted) const {
  const AxisList shards = common(gradient.partial, axes_of(wanted));
  const AxisList copies = without(gradient.partial, shards);
  const bool split = compiler_.has(Habit::sums_over_several_dims_at_once) && compiler_.has(Habit::splits_sliced_sums);
  if (!split || shards.empty() || copies.empty())
    return reshard(tensor(parameter), gradient, gradient.spec, mesh_, compiler_);
  Moves moves = reshard(tensor(parameter), {gradient.spec, shards}, gradient.spec, mesh_, compiler_);
  const Moves of_slices = reshard(tensor(parameter), {wanted, copies}, wanted, mesh_, compiler_);
  for (const Move& move : of_slices) moves.push_back(move);
  return moves;
}

/// vocab_tiling_ag_once: the head's weight is constrained to be whole over its shards' axes outside of the tiles' loop, and
/// with it the gradient that the loop adds up (utils/vocabulary_tiling.py): one all-reduce.
bool Gradients::is_held_whole(TensorId parameter) const {
  return block_.kind == BlockKind::head && config_.holds_head_over_tiles() && tensor(parameter).dims.size() > 1;
}

/// Copies' sums of what gradient accumulation adds up wait for its end, as those of a pipeline: of gradients that are
/// widened before they are added, as they are added (ll7_v5p4_dp2fsdp2_ga2); else the head's, not the table's, whose rows
/// are added up in place (ll7x8_v5p4_zero1_dp4_ga2, ll7x4_v5p8_zero1_dp2_fsdp4_loop_ga2).
bool Gradients::is_accumulated_first(const Operation& op) const {
  const bool accumulates = block_.kind != BlockKind::layer && config_.gradient_accumulation_steps > 1;
  if (!accumulates || config_.num_vocab_tiling > 1 || !compiler_.has(Habit::reduces_after_pipeline)) return false;
  return op.kind != OpKind::lookup || size_of(accumulation_dtype(config_)) > size_of(config_.dtype);
}

/// Not inside the experts' shard_map. Where operands are laid out by size, not onto a dim that one of them has alone, split
/// by other axes (recorded on 7x: mixtral8x22bx3_7x32_tensor2_fsdp_transpose16_dm_save_out_proj).
bool Gradients::is_summed_whole(TensorId parameter, const Layout& gradient, const PartitionSpec& wanted,
                                const Operation& op) const {
  if (!compiler_.has(Habit::sums_unmatched_shards_whole) || has(tensor(op.output), Dim::rows)) return false;
  const bool by_size = compiler_.has(Habit::lays_out_products_by_size);
  for (std::size_t i = 0; i < wanted.dims.size(); ++i) {
    const Dim dim = tensor(parameter).dims[i].dim;
    const bool of_both = has(tensor(op.inputs.front()), dim) && has(tensor(op.output), dim);
    if (by_size && !of_both && !gradient.spec.dims[i].empty()) continue;
    if (is_unmatched(wanted.dims[i], gradient.partial)) return true;
  }
  return false;
}

namespace {

/// Of what is whole: over its shards' axes and its copies' (llama27bx12_v5p8_pp2dp2fsdp2_once).
void sum_at_once(Moves& moves) {
  const auto is_sum = [](const Move& move) {
    return move.kind == CollectiveKind::all_reduce || move.kind == CollectiveKind::reduce_scatter;
  };
  const auto first = std::ranges::find_if(moves, is_sum);
  if (first == moves.end()) return;
  AxisList axes;
  for (const Move& move : moves)
    if (is_sum(move)) axes.append(move.axes);
  first->axes = in_mesh_order(axes);
  Moves kept;
  for (Move& move : moves)
    if (&move == first || !is_sum(move)) kept.push_back(move);
  moves = kept;
}

}  // namespace

void Gradients::sum_parameter(TensorId parameter, const Layout& gradient, const PartitionSpec& wanted,
                              const Operation& op) {
  partial_.push_back({{parameter, " gradient, before reduction"},
                      stored_bytes(tensor(parameter), gradient.spec, mesh_, compiler_), forms_.step(), forms_.step(), true});
  if (block_.own_backward && is_read_before(parameter, op)) {
    waiting_[parameter] = partial_.size() - 1;
    return;
  }
  if (const auto sum = waiting_.find(parameter); sum != waiting_.end()) partial_[sum->second].last = forms_.step();
  const bool held = is_held_whole(parameter);
  const bool at_once = held || is_summed_at_once(parameter, gradient);  // and sliced
  if (at_once && compiler_.has(Habit::sums_over_several_dims_at_once)) {
    Lifetime sum = partial_.back();
    sum.name = {parameter, " gradient, summed whole"};
    sum.unsummed_weight_gradient = false;
    partial_.push_back(sum);
  }
  const bool unmatched = !at_once && op.kind == OpKind::einsum && is_summed_whole(parameter, gradient, wanted, op);
  if (unmatched) {
    Lifetime whole = partial_.back();
    whole.name = {parameter, " gradient, summed whole"};
    whole.bytes = stored_bytes(tensor(parameter), without_axes(wanted, axes_of(wanted)), mesh_, compiler_);
    whole.unsummed_weight_gradient = false;
    partial_.push_back(whole);
  }
  auto moves = unmatched ? reshard_whole_sum(tensor(parameter), gradient, wanted, mesh_, compiler_)
               : at_once ? moves_at_once(parameter, gradient, wanted)
                         : reshard(tensor(parameter), gradient, wanted, mesh_, compiler_);
  // Tiles add up gradients of the weight as it is stored (recorded: llama318bx2_v6e8_fsdp4data2_tiles4once).
  if (held)
    for (auto& move : moves) move.bytes = recast(move.bytes, config_.dtype, config_.weight_dtype);
  // Explicit pipelines whose layer stack moves sum after the cast (recorded).
  if (compiler_.has(Habit::explicit_pipelines_sum_after_cast) && block_.in_pipeline && config_.shard_mode_explicit &&
      moves_layer_stack(program_.program->pipeline, config_))
    for (auto& move : moves) move.bytes = recast(move.bytes, config_.dtype, config_.weight_dtype);
  if (adds_up_whole()) sum_at_once(moves);
  const bool by_hand = block_.own_backward.has_value();  // psum_scatter stays what it is
  const InShardMap in_shard_map = enters_shard_map(tensor(parameter), block_, config_) ? InShardMap::yes : InShardMap::no;
  const auto stays_whole = [&](const Move& move) {
    return adds_up_whole() || is_all_reduced(tensor(parameter), specs_[parameter], move.axes, mesh_, compiler_);
  };
  for (auto& move : moves) {
    const bool whole = move.kind == CollectiveKind::all_reduce;
    const bool waits = whole && !at_once && is_accumulated_first(op);
    if (waits) move.bytes = std::max(move.bytes, recast(move.bytes, config_.dtype, accumulation_dtype(config_)));
    const bool sum = whole || move.kind == CollectiveKind::reduce_scatter;
    if (sum && !by_hand && stays_whole(move)) move.kind = CollectiveKind::all_reduce;
    // Not recorded inside of pipelines.
    const bool in_pieces = move.kind == CollectiveKind::reduce_scatter && !by_hand && !block_.in_pipeline;
    const Moves emitted = in_pieces ? scattered_in_pieces(move, tensor(parameter), gradient.spec, wanted, mesh_,
                                                          in_shard_map, compiler_)
                                    : Moves{move};
    recorder_.record_all(Phase::backward, emitted, {id_of(op), parameter, Cause::weight_gradient, gradient, wanted},
                         waits ? RunCount::once : whole ? RunCount::whole_reductions : RunCount::reductions);
  }
}

}  // namespace shardplan
