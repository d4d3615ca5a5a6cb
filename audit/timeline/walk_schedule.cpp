#include <algorithm>
#include <array>
#include <audit/timeline/call_work.hpp>
#include <audit/timeline/network_channel.hpp>
#include <audit/timeline/open_collectives.hpp>
#include <audit/timeline/span_recorder.hpp>
#include <audit/timeline/walk_schedule.hpp>
#include <map>
#include <shardplan/error.hpp>
#include <utility>

namespace shardplan {
namespace {

/// Something that runs beside the compute stream.
struct Flight {
  std::vector<CollectiveId> collectives;
  double seconds = 0;  ///< of its collectives
  double issued = 0;   ///< kernels that had run by then
  double end = 0;
  bool asynchronous = true;
};

class Walker {
 public:
  Walker(const HloProgram& program, const HloSchedule& schedule, const StepPrices& prices, const OpenRules& rules,
         bool traces = false)
      : program_(program), schedule_(schedule), prices_(prices), rules_(rules), spans_(traces) {}

  Timeline walk() {
    run(program_.entry, 1, 0);
    timeline_.seconds = timeline_.compute + timeline_.exposed + timeline_.waited;
    for (auto& [id, collective] : collectives_) timeline_.collectives.push_back(collective);
    for (auto& [name, seconds] : unknown_) timeline_.unknown.push_back({name, {seconds}});
    timeline_.trace = spans_.take();
    return std::move(timeline_);
  }

 private:
  /// The steps of a computation while it runs.
  struct Frame {
    const std::vector<HloStep>& steps;
    std::size_t computation;
    std::int64_t times;  ///< that this run stands for
    int depth;           ///< loops around it
    std::map<std::size_t, Flight> flights;    ///< by the step that issued them
    std::multimap<std::size_t, std::size_t> open;  ///< first use → step, of collectives that the text leaves open
    std::vector<std::size_t> starter;         ///< the step that issued, of its halves; else none of them
    std::vector<double> begins, computed;     ///< of each step so far: time, and kernels that had run
    std::vector<std::size_t> uses;
  };

  void run(std::size_t computation, std::int64_t times, int depth) {
    const auto& steps = schedule_.computations[computation];
    Frame frame{steps, computation, times, depth, {}, {}, {}, {}, {}, first_uses(steps)};
    frame.starter.assign(steps.size(), steps.size());
    frame.begins.resize(steps.size());
    frame.computed.resize(steps.size());
    for (std::size_t i = 0; i < steps.size(); ++i) {
      for (auto due = frame.open.find(i); due != frame.open.end(); due = frame.open.find(i)) {
        land(frame, due->second);
        frame.open.erase(due);
      }
      frame.begins[i] = now_;
      frame.computed[i] = computed_;
      step(frame, i);
    }
    while (!frame.flights.empty()) land(frame, frame.flights.begin()->first);
  }

  void step(Frame& frame, std::size_t i) {
    const HloStep& step = frame.steps[i];
    switch (step.half) {
      case AsyncHalf::start:
        frame.starter[i] = i;
        // A call whose operands come later (call-update) begins with them.
        if (!(step.kind == HloStepKind::call && step.operands.empty())) issue(frame, i, step);
        return;
      case AsyncHalf::update:
        frame.starter[i] = frame.starter[step.operands.at(0)];
        if (const auto start = frame.starter[i]; start < i && !frame.flights.contains(start))
          issue(frame, start, frame.steps[start]);
        return;
      case AsyncHalf::done:
        return land(frame, frame.starter[step.operands.at(0)]);
      case AsyncHalf::whole:
        return run_whole(frame, i, step);
    }
    throw InternalError("unknown AsyncHalf");
  }

  void run_whole(Frame& frame, std::size_t i, const HloStep& step) {
    switch (step.kind) {
      case HloStepKind::nothing:
        return;
      case HloStepKind::kernel:
        return compute(frame, step, prices_.kernels[frame.computation][i].value);
      case HloStepKind::collective:
        return step.settled ? wait_here(frame, step, {frame.computation, *step.collective}) : place_open(frame, i, step);
      case HloStepKind::call:
        return run(step.callees.at(0), frame.times, frame.depth);
      case HloStepKind::loop:
        return run_loop(frame, step);
      case HloStepKind::branch:
        return run(*std::max_element(step.callees.begin(), step.callees.end(),
                                     [&](auto a, auto b) {
                                       return serial_seconds(a, schedule_, prices_) < serial_seconds(b, schedule_, prices_);
                                     }),
                   frame.times, frame.depth);
    }
    throw InternalError("unknown HloStepKind");
  }

  /// What a kernel that begins now takes longer because collectives are on the network meanwhile.
  double contention(double seconds) const {
    const double share = prices_.collective_processors, rate = 1 - share;
    const double beside = std::min(std::max(network_.free() - now_, 0.0), seconds / rate);
    return beside * share;
  }

  void compute(const Frame& frame, const HloStep& step, double seconds) {
    const double more = contention(seconds), times = static_cast<double>(frame.times);
    now_ += seconds + more;
    computed_ += seconds + more;
    timeline_.compute += Seconds{(seconds + more) * times};
    timeline_.kernels.of(step.work.kind) += Seconds{seconds * times};
    timeline_.kernels.contention += Seconds{more * times};
    if (!step.work.known) unknown_[step.name] += seconds * times;
    spans_.note(Lane::compute, TracedKind::kernel, step.name, frame.times, now_ - seconds - more, now_);
  }

  /// The first run may find the channels busy with what was issued before the loop; all others are alike.
  void run_loop(Frame& frame, const HloStep& step) {
    if (!step.trips && !loops_.contains(&step)) timeline_.uncounted_loops.push_back(step.name);
    const std::int64_t trips = step.trips.value_or(1);
    if (trips == 0) return;
    const struct {
      Seconds compute, exposed, waited;
    } before{timeline_.compute, timeline_.exposed, timeline_.waited};
    const std::string outside = std::exchange(loop_, step.name);
    const auto [found, is_new] = loops_.try_emplace(&step, timeline_.loops.size());
    const std::size_t place = found->second;
    if (is_new) timeline_.loops.push_back({step.name, frame.depth, 0, {}, {}, {}});
    const double start = spans_.position(now_);
    run(step.callees.at(0), frame.times, frame.depth + 1);
    spans_.note_loop(step.name, frame.times, start, now_);
    if (trips > 1) {
      const double begin = now_, computed = computed_, position = spans_.position(now_);
      run(step.callees.at(0), frame.times * (trips - 1), frame.depth + 1);
      spans_.note_loop(step.name, frame.times * (trips - 1), position, now_);
      skip((now_ - begin) * static_cast<double>(trips - 2), (computed_ - computed) * static_cast<double>(trips - 2));
    }
    loop_ = outside;
    TimelineLoop& loop = timeline_.loops[place];
    loop.runs += frame.times * trips;
    loop.compute += timeline_.compute - before.compute;
    loop.exposed += timeline_.exposed - before.exposed;
    loop.seconds += timeline_.compute - before.compute + (timeline_.exposed - before.exposed) +
                    (timeline_.waited - before.waited);
  }

  void skip(double seconds, double computed) {
    now_ += seconds;
    computed_ += computed;
    spans_.skip(seconds);
    for (double& free : free_) free += seconds;
    network_.skip(seconds);
  }

  TimelineCollective& record(const CollectiveId& id) {
    TimelineCollective& record = collectives_[id];
    record.computation = id.first;
    record.collective = id.second;
    return record;
  }

  double price(const CollectiveId& id) const { return prices_.collectives[id.first][id.second].value; }

  void wait_here(Frame& frame, const HloStep& step, const CollectiveId& id) {
    Flight flight{{id}, price(id), computed_, 0, false};
    flight.end = send(frame, step, flight, now_);
    account(frame, step, flight);
  }

  void place_open(Frame& frame, std::size_t i, const HloStep& step) {
    const CollectiveId id{frame.computation, *step.collective};
    const auto kind = program_.computations[id.first].collectives[id.second].kind;
    if (!rules_.asynchronous.has(kind)) return wait_here(frame, step, id);
    const std::size_t begin = earliest_begin(frame.steps, i, rules_.window);
    Flight flight{{id}, price(id), frame.computed[begin], 0, true};
    flight.end = send(frame, step, flight, frame.begins[begin]);
    frame.flights.emplace(i, flight);
    frame.starter[i] = i;
    if (frame.uses[i] < frame.steps.size()) frame.open.emplace(frame.uses[i], i);
  }

  double take(const Frame& frame, const HloStep& step, double seconds) {
    double& free = free_[static_cast<std::size_t>(step.engine)];
    free = std::max(free, now_) + seconds;
    spans_.note(lane_of(step.engine), TracedKind::copy, step.name, frame.times, free - seconds, free);
    return free;
  }

  double send(const Frame& frame, const HloStep& step, const Flight& flight, double not_before) {
    const double end = network_.transfer(flight.collectives, flight.seconds, not_before);
    spans_.note(Lane::network, TracedKind::transfer, step.name, frame.times, end - flight.seconds, end);
    return end;
  }

  void issue(Frame& frame, std::size_t i, const HloStep& step) {
    Flight flight{{}, 0, computed_, now_, true};
    double kernels = 0;
    if (step.kind == HloStepKind::collective)
      flight.collectives.push_back({frame.computation, *step.collective});
    else if (step.kind == HloStepKind::kernel)
      kernels = prices_.kernels[frame.computation][i].value;
    else if (step.kind == HloStepKind::call)
      add_call(step, flight, kernels);
    for (const auto& id : flight.collectives) flight.seconds += price(id);
    if (step.engine == Engine::compute)
      compute(frame, step, kernels);
    else if (kernels > 0)
      flight.end = take(frame, step, kernels);
    if (!flight.collectives.empty()) flight.end = std::max(flight.end, send(frame, step, flight, now_));
    frame.flights.emplace(i, std::move(flight));
  }

  void add_call(const HloStep& step, Flight& flight, double& kernels) const {
    CallWork work = work_of(step.callees, schedule_, prices_);
    flight.collectives = std::move(work.collectives);
    kernels = work.kernels;
  }

  void land(Frame& frame, std::size_t starter) {
    const auto flight = frame.flights.find(starter);
    if (flight == frame.flights.end()) return;
    account(frame, frame.steps[starter], flight->second);
    frame.flights.erase(starter);
  }

  void account(const Frame& frame, const HloStep& step, const Flight& flight) {
    const double times = static_cast<double>(frame.times);
    for (const auto& id : flight.collectives) {
      TimelineCollective& sum = record(id);
      sum.loop = loop_;
      sum.executions += frame.times;
      sum.asynchronous = flight.asynchronous;
      sum.seconds += Seconds{price(id) * times};
      sum.window += Seconds{(computed_ - flight.issued) * times};
    }
    wait(frame, step, flight);
  }

  /// The compute stream waits until a flight has ended. While it waits for a collective, what is on the network is
  /// exposed.
  void wait(const Frame& frame, const HloStep& step, const Flight& flight) {
    if (flight.end <= now_) return;
    const double times = static_cast<double>(frame.times);
    double blamed = 0;
    if (!flight.collectives.empty()) {
      for (const auto& [transfer, part] : network_.busy(now_, flight.end)) {
        blamed += part;
        for (const auto& id : transfer->collectives)
          record(id).exposed += Seconds{part * price(id) / transfer->seconds * times};
      }
    }
    timeline_.exposed += Seconds{blamed * times};
    timeline_.waited += Seconds{std::max(flight.end - now_ - blamed, 0.0) * times};
    spans_.note(Lane::compute, blamed > 0 ? TracedKind::exposed_transfer : TracedKind::exposed_copy, step.name,
                frame.times, now_, flight.end);
    now_ = flight.end;
    network_.forget(now_);
  }

  const HloProgram& program_;
  const HloSchedule& schedule_;
  const StepPrices& prices_;
  const OpenRules& rules_;
  SpanRecorder spans_;
  double now_ = 0, computed_ = 0;
  std::array<double, 4> free_{};  ///< from when on, by Engine
  NetworkChannel network_;
  std::string loop_;
  std::map<CollectiveId, TimelineCollective> collectives_;
  std::map<std::string, double> unknown_;
  std::map<const HloStep*, std::size_t> loops_;  ///< in Timeline::loops
  Timeline timeline_;
};

}  // namespace

Timeline walk(const HloProgram& program, const HloSchedule& schedule, const StepPrices& prices, const OpenRules& rules) {
  return Walker(program, schedule, prices, rules).walk();
}

Timeline trace(const HloProgram& program, const HloSchedule& schedule, const StepPrices& prices, const OpenRules& rules) {
  return Walker(program, schedule, prices, rules, true).walk();
}

}  // namespace shardplan
