#include <fmt/format.h>

#include <algorithm>
#include <cost_models/time/compute_time.hpp>
#include <cost_models/time/schedule/block_bodies.hpp>
#include <cost_models/time/scatter_time.hpp>
#include <cost_models/time/schedule/collective_window.hpp>
#include <cost_models/time/schedule/combined_collectives.hpp>
#include <cost_models/time/step_time.hpp>
#include <shardplan/collective/hidden.hpp>
#include <shardplan/error.hpp>

namespace shardplan {
namespace {

/// What one loop body does in a step, all its runs together.
struct BodyTime {
  Seconds compute, collectives, exposed, host;
  std::optional<Seconds> hideable_host;  ///< the most of its copies that can hide; empty: any
  Seconds contention;  ///< what compute takes longer beside collectives
  Seconds computing() const { return compute + contention; }
  /// Copies have a channel of their own: they run beside compute and while it waits for collectives.
  Seconds exposed_host() const { return exposed_host(computing() + exposed); }
  /// If the copies had so much to run beside.
  Seconds exposed_host(Seconds beside) const {
    return {std::max((host - (hideable_host ? std::min(beside, *hideable_host) : beside)).value, 0.0)};
  }
};

/// A weight that moves less often than its block runs does so before or after the loop (pipeline_fsdp_ag_once, the
/// head's weights under gradient accumulation): no layer's compute is at hand.
bool is_outside_loop(const Collective& collective, const Block& block) {
  return collective.parameter && collective.executions < block.executions;
}

/// Steps that take no time are left out.
TimedBody timed_body(const PlacedCombination& placed, const std::vector<BodyStep>& steps,
                     const std::vector<std::size_t>& collectives) {
  TimedBody body;
  for (std::size_t i = 0; i < steps.size(); ++i)
    if (const TimeSpan& span = placed.body.steps[i]; span.length().value > 0)
      body.kernels.push_back({steps[i].operation, steps[i].part, span});
  const auto timed = [&](const PlacedMove& move) {
    TimedMove one{{}, move.span};
    for (const std::size_t part : placed.parts[move.collective]) one.collectives.push_back(collectives[part]);
    return one;
  };
  for (const PlacedMove& move : placed.body.moves) body.moves.push_back(timed(move));
  for (const PlacedMove& wait : placed.body.waits) body.waits.push_back(timed(wait));
  return body;
}

/// Forward bodies in the order of the blocks, backward ones the other way, what moves outside of loops, the update.
void put_in_order(std::vector<TimedBody>& bodies) {
  std::erase_if(bodies, [](const TimedBody& body) { return body.length().value == 0; });
  const auto place = [](const TimedBody& body) {
    return std::pair(body.kind, body.kind == BodyKind::backward ? -body.block : body.block);
  };
  std::stable_sort(bodies.begin(), bodies.end(),
                   [&](const TimedBody& a, const TimedBody& b) { return place(a) < place(b); });
}

/// A step's time by where it is spent: the bodies of each block, the update, and what belongs to no block.
class Step {
 public:
  explicit Step(const StepWork& work, StepTimeline* timeline = nullptr)
      : work_(work), timeline_(timeline), known_(work.known ? *work.known : none_), exposed_(work.collectives.size()),
        slots_(work.collectives.size()), by_block_(work.blocks.size()) {
    for (auto& members : by_block_) members.reserve(work.collectives.size());
    for (std::size_t i = 0; i < work.collectives.size(); ++i) assign(i);
  }

  ScheduledStep schedule() {
    StepTime total;
    for (std::size_t i = 0; i < work_.blocks.size(); ++i) add_block(total, i);
    add_update(total);
    BodyTime outside;
    for (const std::size_t i : outside_) {
      outside.collectives += work_.collectives[i].seconds;
      outside.exposed += exposed_[i] = work_.collectives[i].seconds;
    }
    add_to(total, outside, 0);
    if (timeline_) place_outside();
    return {total, std::move(exposed_)};
  }

 private:
  void assign(std::size_t i) {
    const Collective& collective = work_.collectives[i];
    if (collective.phase == Phase::optimizer) return update_.push_back(i);
    if (collective.block < 0 || collective.block >= static_cast<BlockId>(work_.blocks.size()))
      throw InternalError(fmt::format("a {} of no block of the program", name_of(collective.kind)));
    const bool outside = is_outside_loop(collective, *work_.blocks[collective.block].block);
    (outside ? outside_ : by_block_[collective.block]).push_back(i);
  }

  void add_block(StepTime& total, std::size_t index) {
    const PartitionedBlock& partitioned = work_.blocks[index];
    const BlockBodies bodies(partitioned, known_.times(index, partitioned, work_.hardware, work_.compiler),
                             operation_time(partitioned.stacks, work_.hardware, work_.compiler));
    for (const std::size_t i : by_block_[index]) slots_[i] = bodies.slot_of(work_.collectives[i]);
    const double runs = static_cast<double>(partitioned.block->executions);
    const double idle = partitioned.block->in_pipeline ? bubble_share(work_.program.pipeline) : 0;
    for (const bool backward : {false, true}) {
      BodyTime body = scheduled(bodies, index, backward, runs);
      body.compute = (backward ? bodies.backward_compute() : bodies.forward_compute()) * runs;
      body.host = host_time(work_.host.activations[index]);
      body.hideable_host = hideable_host(index, backward);
      if (timeline_) place(index, bodies, backward, body, idle);
      add_to(total, body, idle);
    }
    total.parts += bodies.compute() * (runs * (1 - idle));
    for (std::size_t i = 0; i < partitioned.work().size(); ++i) {
      const OperationWork& work = partitioned.work()[i];
      ScatterTime scatters = scatter_time(work, work_.hardware, work_.compiler);
      if (partitioned.liveness.recomputed[i])
        scatters = scatters + forward_scatter_time(work, work_.hardware, work_.compiler);
      total.all_token_routing += scatters.expected * runs;
      total.least_all_token_routing += scatters.at_least * runs;
    }
  }

  /// The most of a body's copies that can hide; empty: any.
  std::optional<Seconds> hideable_host(std::size_t index, bool backward) const {
    const Bytes inputs = work_.host.inputs[index], longest = work_.host.longest[index];
    switch (work_.compiler.overlap.host_copies) {
      case HostCopies::all:
        return std::nullopt;
      case HostCopies::backward:
        return backward ? std::nullopt : std::optional(host_time(inputs + longest));
      case HostCopies::longest:
        return host_time(std::max(inputs, longest));
    }
    throw InternalError("unknown HostCopies");
  }

  /// What moves in a body, and which collectives that are.
  struct Moves {
    std::vector<ScheduledCollective> moves;
    std::vector<std::size_t> indices;
  };

  Moves moves_of(const BlockBodies& bodies, const std::vector<std::size_t>& members, bool backward, double runs) const {
    Moves found;
    found.moves.reserve(members.size());
    found.indices.reserve(members.size());
    for (const std::size_t i : members) {
      const Slot& slot = slots_[i];
      if (slot.backward != backward) continue;
      found.moves.push_back(move_of(work_.collectives[i], slot, backward ? bodies.backward() : bodies.forward(), runs));
      found.indices.push_back(i);
    }
    return found;
  }

  BodyTime scheduled(const BlockBodies& bodies, std::size_t index, bool backward, double runs) {
    BodyTime body;
    auto [moves, indices] = moves_of(bodies, by_block_[index], backward, runs);
    for (const std::size_t i : indices) body.collectives += work_.collectives[i].seconds;
    const BodyWaits& waits = known_.waits(2 * index + (backward ? 1 : 0), backward ? bodies.backward() : bodies.forward(),
                                          std::move(moves), kinds_of(indices), work_.compiler.overlap);
    for (std::size_t m = 0; m < indices.size(); ++m) body.exposed += exposed_[indices[m]] = waits.exposed[m] * runs;
    body.contention = waits.contention * runs;
    return body;
  }

  ScheduledCollective move_of(const Collective& c, const Slot& slot, const std::vector<Seconds>& steps,
                              double runs) const {
    const OverlapRules& overlap = work_.compiler.overlap;
    ScheduledCollective move{c.seconds * (1 / runs), slot.made_by, slot.needed_by};
    move.asynchronous = overlap.asynchronous.has(c.purpose());
    move.processors = processors();
    move.ahead = c.parameter && move.asynchronous && runs > 1 && overlap.pipelined.has(c.purpose());
    move.of_leaf = slot.of_leaf && !move.ahead;
    if (move.of_leaf && overlap.one_in_flight) move.needed_by = static_cast<int>(steps.size()) - 1;  // its stack's
    if (c.parameter) narrow(move, steps, overlap);
    // With pipeline_delay_activation_forwarding a result is sent one iteration before it is needed: MaxText offers it so
    // that the transfer and the iteration's compute are independent (configs/base.yml).
    if (c.cause == Cause::stage_shift && work_.program.pipeline.forwarding_delay > 1) move.made_by = -1;
    return move;
  }

  std::vector<CombinedKind> kinds_of(const std::vector<std::size_t>& indices) const {
    std::vector<CombinedKind> kinds;
    kinds.reserve(indices.size());
    for (const std::size_t i : indices) {
      const Collective& c = work_.collectives[i];
      kinds.push_back({c.kind, c.axes, c.parameter ? combine_limit(work_.compiler, c.kind) : Bytes{}, result_of(c)});
    }
    return kinds;
  }

  /// Of matrices that are worked on one after the other each step waits for what the one before leads to.
  bool is_waited_for_at_once(const Collective& c) const {
    const bool is_of_steps = c.cause == Cause::newton_schulz_gram || c.cause == Cause::newton_schulz_matrix ||
                             c.cause == Cause::newton_schulz_square;
    return is_of_steps && !work_.compiler.has(Habit::orthogonalizes_matrices_together);
  }

  /// Gathers of updated weights hide behind the update, and those of muon's matrices behind products of others.
  void add_update(StepTime& total) {
    BodyTime body;
    body.compute = vector_time(work_.update, work_.hardware, work_.compiler);
    for (const OperationWork& product : work_.update_products)
      body.compute += operation_time(product, work_.hardware, work_.compiler).forward.total();
    body.host = host_time(work_.host.optimizer + work_.host.parameters) * 2;
    std::vector<ScheduledCollective> moves;
    for (const std::size_t i : update_) {
      const Collective& c = work_.collectives[i];
      body.collectives += c.seconds;
      moves.push_back({c.seconds, -1, is_waited_for_at_once(c) ? 0 : 1,
                       work_.compiler.overlap.asynchronous.has(c.purpose()), false, false, processors()});
    }
    const BodyWaits waits = exposed_in_body({body.compute}, moves);
    for (std::size_t m = 0; m < update_.size(); ++m) body.exposed += exposed_[update_[m]] = waits.exposed[m];
    body.contention = waits.contention;
    if (timeline_) place_update(body, moves);
    add_to(total, body, 0);
    total.parts.optimizer = body.compute;
  }

  void place(std::size_t index, const BlockBodies& bodies, bool backward, const BodyTime& body, double idle) {
    const double runs = static_cast<double>(work_.blocks[index].block->executions);
    const auto [moves, indices] = moves_of(bodies, by_block_[index], backward, runs);
    const auto placed = place_combined(backward ? bodies.backward() : bodies.forward(), moves, kinds_of(indices),
                                       work_.compiler.overlap);
    TimedBody timed = timed_body(placed, bodies.steps(backward), indices);
    timed.kind = backward ? BodyKind::backward : BodyKind::forward;
    timed.block = static_cast<BlockId>(index);
    timed.runs = runs;
    timed.empty_runs = runs * idle;
    timed.host = body.host * (1 / runs);
    timed.exposed_host = body.exposed_host() * (1 / runs);
    timeline_->bodies.push_back(std::move(timed));
  }

  void place_update(const BodyTime& body, const std::vector<ScheduledCollective>& moves) {
    PlacedCombination placed{place_body({body.compute}, moves), std::vector<std::vector<std::size_t>>(moves.size())};
    for (std::size_t i = 0; i < moves.size(); ++i) placed.parts[i] = {i};
    TimedBody timed = timed_body(placed, {{-1, KernelPart::update}}, update_);
    timed.kind = BodyKind::update;
    timed.host = body.host;
    timed.exposed_host = body.exposed_host();
    timeline_->bodies.push_back(std::move(timed));
  }

  void place_outside() {
    TimedBody timed;
    timed.kind = BodyKind::outside;
    Seconds now;
    for (const std::size_t i : outside_) {
      const TimeSpan span{now, now + work_.collectives[i].seconds};
      timed.moves.push_back({{i}, span});
      timed.waits.push_back({{i}, span});
      now = span.end;
    }
    timeline_->bodies.push_back(std::move(timed));
  }

  double processors() const {
    const auto& share = work_.hardware.collective_processors;
    return share ? share->value : 0;
  }

  Seconds host_time(Bytes bytes) const {
    if (bytes.value == 0) return {};
    const auto& link = work_.hardware.host_link_bandwidth;
    if (!link) throw InternalError(work_.hardware.name + " has no host_link_bandwidth for what is offloaded");
    return bytes / BytesPerSecond{link->value};
  }

  void add_to(StepTime& total, const BodyTime& body, double idle) const {
    total.compute += body.computing() * (1 - idle);
    total.parts.contention += body.contention * (1 - idle);
    total.exposed_collective += body.exposed * (1 - idle);
    total.hidden_collective += hidden_of(body.collectives, body.exposed);
    total.exposed_host += body.exposed_host() * (1 - idle);
    total.hidden_host += body.host - body.exposed_host();
    total.bubble += (body.computing() + body.exposed + body.exposed_host()) * idle;
    const Seconds if_all_hid = body.compute + body.collectives * processors();
    const Seconds if_none_hid = body.compute + body.collectives;
    total.if_all_hid += if_all_hid + body.exposed_host(if_all_hid);
    total.if_none_hid += if_none_hid + body.exposed_host(if_none_hid);
  }

  const StepWork& work_;
  StepTimeline* timeline_;  ///< to be filled in; null: nobody asks for it
  KnownBodies none_;
  KnownBodies& known_;
  std::vector<Seconds> exposed_;
  std::vector<Slot> slots_;  ///< of those collectives that run inside a loop
  std::vector<std::vector<std::size_t>> by_block_;
  std::vector<std::size_t> update_, outside_;
};

}  // namespace

// 4 stages, 8 microbatches: 11 iterations, of which 3 find the stage empty: 3/11.
double bubble_share(const PipelineShape& pipeline) {
  if (pipeline.stages <= 1) return 0;
  const std::int64_t useful = pipeline.microbatches * pipeline.repeats;
  return static_cast<double>(pipeline.iterations() - useful) / static_cast<double>(pipeline.iterations());
}

StepTimeline place_step(const StepWork& work) {
  StepTimeline timeline;
  Step(work, &timeline).schedule();
  put_in_order(timeline.bodies);
  return timeline;
}

ScheduledStep schedule_step(const StepWork& work) {
  ScheduledStep step = Step(work).schedule();
  const double seconds = step.time.step().value, devices = static_cast<double>(work.devices);
  if (!(seconds > 0)) throw InternalError("a step that takes no time");
  step.time.tokens_per_second_per_device = work.tokens / (seconds * devices);
  step.time.model_flops_utilization = work.model_flops.value / (seconds * devices * work.hardware.peak_bf16.value);
  return step;
}

}  // namespace shardplan
