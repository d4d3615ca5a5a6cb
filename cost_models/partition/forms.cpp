#include <algorithm>
#include <cost_models/partition/forms.hpp>
#include <cost_models/layouts/held_experts.hpp>
#include <cost_models/layouts/optimizer_layout.hpp>
#include <cost_models/layouts/tiles.hpp>

namespace shardplan {
namespace {

/// Whether a tensor comes to the second spec from the first by gathers alone.
bool only_gathers(const PartitionSpec& from, const PartitionSpec& to) {
  for (std::size_t dim = 0; dim < to.dims.size(); ++dim)
    if (!without(to.dims[dim], from.dims[dim]).empty()) return false;
  return true;
}

}  // namespace

Forms::Forms(const BoundProgram& program, const Block& block, const DataFlow& flow,
             const std::vector<PartitionSpec>& specs, const TrainConfig& config, const Compiler& compiler,
             Recorder& recorder)
    : mesh_(*program.mesh), block_(block), flow_(flow), specs_(specs), compiler_(compiler), recorder_(recorder) {
  resident_ = block.in_pipeline && config.pipeline_fsdp_ag_once;
  const bool casts_first = compiler.has(Habit::moves_stacks_in_compute_dtype);
  gathered_with_stack_ = casts_first && compiler.has(Habit::moves_shifted_layer_stacks) &&
                         moves_layer_stack(program.program->pipeline, config);
  reads_stack_ = resident_ && gathered_with_stack_ && !config.shard_mode_explicit;
  if (!casts_first) resident_dtype_ = config.weight_dtype;
  if (holds_gathered_experts(block, program.program->pipeline, config, compiler))
    for (const Tensor& tensor : block.tensors) held_.push_back(enters_shard_map(tensor, block, config));
  gathers_held_again_ = gathers_held_experts_again(config, compiler);
  is_slice_ = block.kind == BlockKind::layer && config.scan_layers && !block.in_pipeline &&
              compiler.has(Habit::pads_to_tiles);
  reads_experts_by_kernel_ = is_slice_ && block.mixture && config.moe_path != MoePath::dropping;
  entries_.reserve(block.tensors.size());
}

TensorId Forms::constrained(TensorId tensor) const {
  const OperationId maker = flow_.maker(tensor);
  return maker >= 0 && block_.operations[maker].kind == OpKind::constrain ? block_.operations[maker].inputs.front() : -1;
}

// A constraint on the way is honoured, except that a gather which the consumer would slice away again cancels: the
// intermediate keeps the axes that source and consumer have on the same dim.
PartitionSpec Forms::on_the_way(TensorId tensor, const PartitionSpec& spec) const {
  if (constrained(tensor) < 0) return specs_[tensor];
  const PartitionSpec& source = specs_[root(tensor)];
  PartitionSpec middle = specs_[tensor];
  for (std::size_t dim = 0; dim < spec.dims.size(); ++dim)
    for (const AxisId axis : spec.dims[dim])
      if (source.dims[dim].contains(axis) && place_of(axis, middle) < 0) middle.dims[dim].push_back(axis);
  return middle;
}

/// A weight on its way through a constraint that only gathers, to a product that gathers the rest: one gather. Two where the
/// constraint is computed again and its gradient reads what it gathered (recorded on 7x: mixtral8x7bx4_7x8_fsdp4ep2_dm,
/// mixtral8x7bx3_7x16_fsdp2ep8_dm_minctx), and where the product narrows what was constrained, a shard_map's weights
/// (recorded on 7x: qn80x8_7x8_ep4fsdp2_fp8full, qwen330ba3bx2_7x8_fsdp8_fp8full) or a dropping path's under expert
/// parallelism (mixtral8x7bx4_7x8_fsdp2ep4_dm_int8), and where two stages are asked for
/// (dense_fsdp_use_two_stage_all_gather; likewise: qwen2514bx4_7x16_fsdp_transpose8_fsdp2_save_qkv_proj).
bool Forms::gathers_at_once(TensorId tensor, const PartitionSpec& spec, Pass pass, Numbers numbers) const {
  if (numbers != Numbers::wide || constrained(tensor) < 0 || !block_.tensors[root(tensor)].parameter) return false;
  const Peel peel = block_.tensors[tensor].constraint.peel;
  if (peel == Peel::fsdp_transpose || peel == Peel::both_fsdp) return false;
  if (!compiler_.has(Habit::lays_out_products_by_size) || !only_gathers(specs_[root(tensor)], spec)) return false;
  const auto is_recomputed = [](const Entry& entry) {
    return entry.step == Step::before && entry.pass == Pass::backward && !entry.backward;
  };
  return pass == Pass::forward || (backward_ && std::none_of(entries_.begin(), entries_.end(), is_recomputed));
}

/// A weight that was gathered for a product's recomputation and is gone when its gradient comes. Of layers with experts also
/// what query, key and value read under tensor parallelism (recorded: mixtral8x7bx4_v5p16_tp2ep8,
/// mixtral8x7bx3_7x16_fsdp2tp2ep4, qwen330ba3bx2_v6e8_ep4tp2 and three more, which compute attention again; not where query,
/// key and value are saved), and low ranks that heads are projected from (deepseek216bx5_v5p4_tp4_dm).
bool Forms::released(const Entry& entry, const Operation& op) const {
  if (!backward_ || entry.backward || entry.gradient || !released_[id_of(op)]) return false;
  const bool reads = op.role == OperationRole::qkv_projection || entry.numbers == Numbers::wide;
  const bool input = block_.mixture && makes_weight_gradient_ && op.module == Module::attention && reads;
  return input || block_.tensors[entry.tensor].parameter;
}

/// An activation that was gathered before the late gradients began, for one that is far away. What several constrained
/// tensors share isn't gathered again (recorded: qwen3-0.6b, whose key and value read what the query does).
bool Forms::is_far(const Entry& entry, const Operation& op) const {
  if (late_since_ < 0 || entry.first >= late_since_ || block_.tensors[entry.tensor].parameter) return false;
  return entry.gradient ? far_.gradients[id_of(op)] : far_.inputs[id_of(op)] && !entry.several;
}

Apart Forms::apart(TensorId tensor, bool gradient, const Operation& op) const {
  if (!makes_weight_gradient_ || apart_.inputs.empty() || block_.tensors[root(tensor)].parameter) return Apart::none;
  return gradient ? apart_.gradients[id_of(op)] : apart_.inputs[id_of(op)];
}

/// MaxText constrains the input of the query projection, of key and value together, and of an MLP's projections together:
/// one tensor each to the partitioner.
OperationId Forms::first_reader(const Operation& op) const {
  const auto reads_the_same = [&](const Operation& other) {
    return other.module == op.module && other.kind == op.kind && other.inputs.front() == op.inputs.front() &&
           is_query_projection(block_, other) == is_query_projection(block_, op);
  };
  return id_of(*std::find_if(block_.operations.begin(), block_.operations.end(), reads_the_same));
}

// The habit of XLA:GPU: what is gathered for one constrained tensor isn't shared with the next, nor what was gathered in
// groups of devices with what was gathered in others (product_groups.hpp).
bool Forms::shared(const Entry& entry, const Consumer& consumer) const {
  if (!compiler_.has(Habit::gathers_activations_per_consumer)) return true;
  if (!only_gathers(specs_[entry.tensor], entry.spec)) return true;
  return block_.tensors[entry.tensor].parameter ? entry.consumer.groups == consumer.groups : entry.consumer == consumer;
}

OperationId Forms::history_of(const Operation& op, Numbers numbers) const {
  const bool delayed = numbers != Numbers::wide && op.narrow->activation_scaling == Scaling::delayed;
  return delayed ? id_of(op) : -1;
}

DType Forms::dtype_of(TensorId tensor, const Operation& op, Numbers numbers) const {
  const bool is_weight = op.inputs.size() > 1 && op.inputs[1] == tensor;
  if (numbers != Numbers::wide)
    return is_weight ? op.narrow->weight_operand.value_or(op.narrow->operands) : op.narrow->operands;
  const DType dtype = block_.tensors[tensor].dtype;
  const bool narrowed =
      dtype == DType::f32 && op.kind == OpKind::einsum && compiler_.has(Habit::narrows_float32_operands);
  return narrowed ? DType::bf16 : dtype;
}

/// Equal gathers are merged where their users are near (XLA: ScheduleAwareCollectiveOpsCSE). Behind and before a layer
/// that is written out the others lie between; what a shard_map read is the one value that its gradient reads too.
bool Forms::gathered_again(TensorId tensor) const {
  const TensorId weight = root(tensor);
  if (!block_.beside_scan || !compiler_.has(Habit::gathers_again_in_cycles) || !block_.tensors[weight].parameter)
    return false;
  for (std::size_t other = 0; other < block_.tensors.size(); ++other)
    if (block_.tensors[other].constraint.peel == Peel::fsdp && root(static_cast<TensorId>(other)) == weight) return false;
  return true;
}

/// A dispatch that exchanges its mask does so before the mask takes the tokens' dtype (recorded on 7x: five programs with a
/// peeled dispatch; what is gathered has that dtype).
bool Forms::is_boolean(TensorId tensor, const Move& move) const {
  return move.kind == CollectiveKind::all_to_all && block_.tensors[root(tensor)].role == TensorRole::dispatch_mask;
}

bool Forms::found(TensorId tensor, const PartitionSpec& spec, Pass pass, bool gradient, const Operation& op,
                  const AxisList& groups, Numbers numbers, Step step) {
  const Consumer consumer{first_reader(op), groups};
  const bool apart = this->apart(tensor, gradient, op) != Apart::none;
  for (auto& entry : entries_) {
    if (entry.apart != apart) continue;
    if (entry.tensor != root(tensor) || entry.gradient != gradient || entry.spec != spec) continue;
    if (entry.numbers != numbers || entry.history != history_of(op, numbers)) continue;
    const bool lives_on = entry.pass == pass || (!block_.rematerialized && !gradient && !gathered_again(tensor));
    if (lives_on && is_far(entry, op)) {  // gathered early again: the buffer is there until then
      entry.last = step_;
      continue;
    }
    entry.several = entry.several || consumer.operation != entry.consumer.operation;
    if (!lives_on || !shared(entry, consumer) || (step == Step::last && released(entry, op))) continue;
    entry.last = step_;
    return true;
  }
  entries_.push_back({root(tensor), pass, gradient, spec, numbers, dtype_of(tensor, op, numbers), history_of(op, numbers),
                      consumer, backward_, step, apart, false, step_, step_});
  return false;
}

RunCount Forms::runs(TensorId tensor, Pass pass, Apart apart) const {
  if (!block_.tensors[root(tensor)].parameter) {
    const Entry& made = entries_.back();
    const bool shared = std::any_of(entries_.begin(), entries_.end(), [&](const Entry& other) {
      return !other.apart && other.tensor == made.tensor && other.gradient == made.gradient && other.pass == made.pass &&
             other.spec == made.spec && other.numbers == made.numbers;
    });
    return apart == Apart::behind_first && shared ? RunCount::behind_first : RunCount::body;
  }
  if (is_held(tensor) && pass == Pass::forward) return RunCount::each_layer;
  return pass == Pass::forward ? RunCount::gathers : RunCount::backward_gathers;
}

bool Forms::is_held(TensorId tensor) const { return !held_.empty() && held_[root(tensor)]; }

bool Forms::use(TensorId tensor, const PartitionSpec& spec, Pass pass, const Operation& op, const AxisList& groups,
                Numbers numbers) {
  return make(tensor, spec, pass, op, groups, numbers, Step::last);
}

bool Forms::make(TensorId tensor, const PartitionSpec& spec, Pass pass, const Operation& op, const AxisList& groups,
                 Numbers numbers, Step step) {
  const bool wide = numbers == Numbers::wide;
  if (wide && specs_[root(tensor)] == spec) return false;
  const bool at_once = gathers_at_once(tensor, spec, pass, numbers);
  const PartitionSpec middle = at_once ? specs_[root(tensor)] : on_the_way(tensor, spec);
  if (const TensorId source = constrained(tensor); source >= 0 && middle != specs_[root(tensor)])
    make(source, middle, pass, op, groups, Numbers::wide, Step::before);
  if (found(tensor, spec, pass, false, op, groups, numbers, step)) return false;
  const bool recomputes = block_.rematerialized || block_.single_run == SingleRun::merged ||
                          block_.single_run == SingleRun::parted;
  const Phase again = recomputes && numbers != Numbers::narrow_again ? Phase::rematerialized_forward
                                                                                 : Phase::backward;
  const Phase phase = pass == Pass::forward ? Phase::forward : again;
  const DType own = block_.tensors[tensor].dtype;
  const bool parameter = block_.tensors[root(tensor)].parameter;
  if (parameter && resident_ && gathered_with_stack_) return true;
  if (is_held(tensor) && pass == Pass::backward && !gathers_held_again_) return true;
  const DType resident = parameter ? resident_dtype_.value_or(own) : own;
  const DType moved = resident_ ? resident : dtype_of(tensor, op, numbers);
  for (auto& move : reshard(block_.tensors[tensor], {middle, {}}, spec, mesh_, compiler_)) {
    move.bytes = recast(move.bytes, own, is_boolean(tensor, move) ? DType::pred : moved);
    move.parameter = parameter;
    recorder_.record(phase, move, {id_of(op), tensor, Cause::operand_layout, {middle, {}}, spec},
                     runs(tensor, pass, apart(tensor, false, op)));
    if (pass == Pass::forward && move.parameter && !is_held(tensor)) gathered_weights_ += move.bytes;
  }
  return true;
}

bool Forms::use_gradient(TensorId tensor, const PartitionSpec& spec, const Operation& op, const AxisList& groups,
                         Numbers numbers) {
  const bool wide = numbers == Numbers::wide;
  if (wide && specs_[tensor] == spec) return false;
  if (found(tensor, spec, Pass::backward, true, op, groups, numbers)) return false;
  const DType moved = dtype_of(tensor, op, numbers);
  const Bytes kept{local_elements(block_.tensors[tensor].dims, spec, mesh_) * bits_of(moved) / 8};
  for (auto& move : reshard(block_.tensors[tensor], {specs_[tensor], {}}, spec, mesh_, compiler_)) {
    move.bytes = recast(move.bytes, block_.tensors[tensor].dtype, moved);
    recorder_.record(Phase::backward, move, {id_of(op), tensor, Cause::gradient_layout, {specs_[tensor], {}}, spec},
                     runs(tensor, Pass::backward, apart(tensor, true, op)));
    if (move.kind == CollectiveKind::all_gather && move.bytes > kept)
      wholes_.push_back({tensor, move.bytes, step_});
  }
  return true;
}

void Forms::keep_gradient(TensorId tensor, int step) {
  for (Entry& entry : entries_)
    if (entry.gradient && entry.tensor == tensor) entry.last = std::max(entry.last, step);
}

Forms::Gathering Forms::gathering(const Entry& entry) const {
  const TensorId weight = root(entry.tensor);
  const Tensor& tensor = block_.tensors[weight];
  if (entry.gradient || !tensor.parameter || !is_slice_ || bits_of(entry.dtype) != 16) return Gathering::whole_tiles;
  const auto cuts_tiles = [&](std::size_t dim) {
    const AxisList& axes = specs_[weight].dims[dim];
    return entry.spec.dims[dim] != axes && tensor.dims[dim].size / mesh_.product(axes) % sublanes != 0;
  };
  if (tensor.dims.size() == 3 && tensor.dims.front().dim == Dim::experts)
    return reads_experts_by_kernel_ && cuts_tiles(1) ? Gathering::copied : Gathering::whole_tiles;
  if (tensor.dims.size() != 2 || block_.tensors[entry.tensor].dims.size() != 2) return Gathering::whole_tiles;
  if (cuts_tiles(0)) return Gathering::row_by_row;
  return cuts_tiles(1) ? Gathering::column_by_column : Gathering::whole_tiles;
}

int Forms::again_since(const Entry& entry) const {
  int first = entry.first;
  for (const Entry& other : entries_)
    if (!other.gradient && other.tensor == entry.tensor && other.spec == entry.spec && other.last < entry.first)
      first = std::min(first, other.last + 1);
  return first;
}

bool Forms::is_made_beside(const Entry& entry, const WholeGradient& whole) const {
  const bool is_slice = entry.gradient && entry.tensor == whole.tensor;
  return !is_slice && entry.first == whole.step;
}

bool Forms::is_gathered_beside(const WholeGradient& whole) const {
  return std::none_of(entries_.begin(), entries_.end(), [&](const Entry& entry) {
    return is_made_beside(entry, whole) && bytes_of(entry) >= whole.bytes;
  });
}

Bytes Forms::gathered_with(const WholeGradient& whole) const {
  Bytes all;
  for (const Entry& entry : entries_)
    if (is_made_beside(entry, whole)) all += bytes_of(entry);
  return all;
}

bool Forms::gathers_gradient_last() const {
  return std::ranges::any_of(wholes_, [&](const WholeGradient& whole) { return is_gathered_beside(whole); });
}

Bytes Forms::bytes_of(const Entry& entry) const {
  return Bytes{stored_elements(block_.tensors[entry.tensor], entry.spec, mesh_, compiler_) * bits_of(entry.dtype) / 8};
}

/// A weight that was gathered with its stack: products read their slice of that; or that waits since before the loop.
bool Forms::lies_in_stack(const Entry& entry) const {
  const bool wide = entry.numbers == Numbers::wide && !entry.gradient;
  return wide && ((reads_stack_ && block_.tensors[root(entry.tensor)].parameter) || is_held(entry.tensor));
}

std::vector<Lifetime> Forms::lifetimes() const {
  std::vector<Lifetime> lifetimes;
  lifetimes.reserve(entries_.size() + wholes_.size());
  for (const auto& entry : entries_) {
    if (lies_in_stack(entry)) continue;
    Bytes bytes = bytes_of(entry);
    const Gathering gathering = this->gathering(entry);
    if (gathering == Gathering::row_by_row) bytes = bytes * 2;
    if (gathering == Gathering::copied)
      lifetimes.push_back({{entry.tensor, ", gathered as it lies"}, bytes, entry.first, entry.first});
    if (gathering == Gathering::column_by_column) {
      lifetimes.push_back({{entry.tensor, ", gathered as it lies"}, bytes * 2, entry.first, entry.first});
      lifetimes.push_back({{entry.tensor, ", gathered and turned"}, bytes, again_since(entry), entry.last});
      continue;
    }
    const bool wide = entry.numbers == Numbers::wide;
    const char* what = entry.gradient ? (wide ? " gradient, gathered" : " gradient, narrowed")
                                      : (wide ? ", gathered" : ", narrowed");
    lifetimes.push_back({{entry.tensor, what}, bytes, entry.first, entry.last});
    if (gathering == Gathering::row_by_row) lifetimes.back().listed_first = again_since(entry);
  }
  for (WholeGradient whole : wholes_) {
    const bool in_turn = compiler_.overlap.one_in_flight;
    if (in_turn) whole.bytes -= std::min(whole.bytes, gathered_with(whole));
    if (in_turn ? whole.bytes.value > 0 : is_gathered_beside(whole))
      lifetimes.push_back({{whole.tensor, " gradient, gathered whole"}, whole.bytes, whole.step, whole.step});
  }
  return lifetimes;
}

}  // namespace shardplan
