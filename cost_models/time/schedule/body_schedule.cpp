#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cost_models/time/schedule/body_schedule.hpp>
#include <limits>
#include <shardplan/error.hpp>
#include <tuple>

namespace shardplan {
namespace {

constexpr double never = std::numeric_limits<double>::infinity();

/// Equal iterations of the body, one after the other; times from the start of the first.
class Loop {
 public:
  Loop(const std::vector<Seconds>& steps, const std::vector<ScheduledCollective>& collectives, int iterations)
      : steps_(steps), count_(static_cast<int>(steps.size())), begins_(steps.size() * iterations),
        ends_(steps.size() * iterations, never) {
    moves_.reserve(collectives.size() * iterations);
    runs_.reserve(moves_.capacity());
    for (int iteration = 0; iteration < iterations; ++iteration)
      for (std::size_t i = 0; i < collectives.size(); ++i) add(collectives[i], i, iteration);
    std::sort(moves_.begin(), moves_.end(), [](const Move& a, const Move& b) {
      return std::tuple(a.needed_by, a.iteration, a.index) < std::tuple(b.needed_by, b.iteration, b.index);
    });
    to_make_.reserve(moves_.size());
    ready_.reserve(moves_.size());
    for (std::size_t i = 0; i < moves_.size(); ++i)
      if (moves_[i].asynchronous) to_make_.push_back(i);
    std::sort(to_make_.begin(), to_make_.end(), [&](std::size_t a, std::size_t b) {
      return std::pair(moves_[a].made_by, a) < std::pair(moves_[b].made_by, b);
    });
    made_until(-1);
  }

  /// What `iteration` waits for each collective: a wait is laid to what the channel runs meanwhile, which may be another
  /// collective, in front of the one that is waited for. Wait by wait in `placed`, where that is asked for.
  BodyWaits waits(std::size_t collectives, int iteration, std::vector<PlacedMove>* placed = nullptr) {
    BodyWaits found{std::vector<Seconds>(collectives), {}};
    const int total = static_cast<int>(ends_.size());
    const int begins = iteration * count_, end = begins + count_;
    double now = 0;
    auto next = moves_.begin();
    while (next != moves_.end() && next->needed_by < 0) ++next;
    for (int step = 0; step <= total; ++step) {
      start_until(now);
      for (; next != moves_.end() && next->needed_by == step; ++next) {
        Move& move = *next;
        if (move.end == never) run(move, move.asynchronous ? 0 : now);
        if (is_waited_in(move, step, begins, end) && move.end > now) lay_wait(now, move.end, found.exposed, placed);
        now = std::max(now, move.end);
      }
      if (step == total || (step == end && !placed)) break;  // nothing behind it counts
      const double alone = steps_[step % count_].value;
      begins_[step] = now;
      ends_[step] = now = end_of_step(now, alone);
      if (contends_ && step >= begins && step < end)
        found.contention += Seconds{std::max(now - begins_[step] - alone, 0.0)};
      made_until(step);
    }
    return found;
  }

  /// All that runs during `iteration`.
  PlacedBody place(std::size_t collectives, int iteration) {
    PlacedBody placed;
    waits(collectives, iteration, &placed.waits);
    const int first = iteration * count_;
    for (int step = 0; step < count_; ++step)
      placed.steps.push_back({{begins_[first + step]}, {ends_[first + step]}});
    double begin = placed.steps.front().begin.value, end = placed.steps.back().end.value;
    for (const PlacedMove& wait : placed.waits) {
      begin = std::min(begin, wait.span.begin.value);
      end = std::max(end, wait.span.end.value);
    }
    for (const Move& move : moves_)
      if (const double from = std::max(move.end - move.seconds, begin), to = std::min(move.end, end); from < to)
        placed.moves.push_back({move.index, {{from}, {to}}});
    std::stable_sort(placed.moves.begin(), placed.moves.end(),
                     [](const PlacedMove& a, const PlacedMove& b) { return a.span.begin < b.span.begin; });
    shift(placed, {begin});
    return placed;
  }

 private:
  static void shift(PlacedBody& placed, Seconds by) {
    const auto earlier = [&](TimeSpan& span) { span = {span.begin - by, span.end - by}; };
    for (TimeSpan& step : placed.steps) earlier(step);
    for (PlacedMove& move : placed.moves) earlier(move.span);
    for (PlacedMove& wait : placed.waits) earlier(wait.span);
  }

  struct Move {
    std::size_t index;
    int iteration;
    double seconds;
    int made_by, needed_by;
    double processors;
    bool asynchronous;
    bool waited_by_step;  ///< by a step of its iteration; else by the end of one
    double end = never;
  };

  /// Of an iteration's first step only its own moves count, of the one behind its last only those of its end.
  static bool is_waited_in(const Move& move, int step, int begins, int end) {
    if (step == begins) return move.waited_by_step;
    if (step == end) return !move.waited_by_step;
    return step > begins && step < end;
  }

  void lay_wait(double from, double to, std::vector<Seconds>& exposed, std::vector<PlacedMove>* placed) const {
    auto first = runs_.end();
    while (first != runs_.begin() && std::prev(first)->end > from) --first;
    for (auto run = first; run != runs_.end() && from < to; ++run) {
      const double until = std::min(run->end, to);
      exposed[run->index] += Seconds{until - from};
      if (placed) placed->push_back({run->index, {{from}, {until}}});
      from = until;
    }
  }

  void add(const ScheduledCollective& c, std::size_t index, int iteration) {
    if (c.made_by >= c.needed_by)
      throw InternalError(fmt::format("a collective made by step {} and needed by {}", c.made_by, c.needed_by));
    const int first = iteration * count_;
    Move move{index, iteration, c.seconds.value, first + c.made_by, first + c.needed_by, c.processors, c.asynchronous,
              c.needed_by < count_};
    contends_ = contends_ || c.processors > 0;
    if (c.ahead && c.made_by < 0) move.made_by = std::max(first - count_ - 1, -1);
    if (c.ahead && c.needed_by >= count_) move.needed_by += count_;
    if (move.needed_by <= static_cast<int>(ends_.size())) moves_.push_back(move);
  }

  double made(const Move& move) const { return move.made_by < 0 ? 0 : ends_[move.made_by]; }

  /// `step` has run: what it made may start.
  void made_until(int step) {
    for (; made_ < to_make_.size() && moves_[to_make_[made_]].made_by <= step; ++made_)
      ready_.insert(std::upper_bound(ready_.begin(), ready_.end(), to_make_[made_]), to_make_[made_]);
  }

  /// What the channel begins before `now`: always the earliest that it can, of equals the one that is needed first.
  void start_until(double now) {
    while (channel_ < now && !ready_.empty()) {
      Move* next = nullptr;
      double start = now;
      std::erase_if(ready_, [&](std::size_t i) { return moves_[i].end != never; });
      for (const std::size_t i : ready_) {
        if (start <= channel_) break;
        const double at = std::max(channel_, made(moves_[i]));
        if (at >= start) continue;
        start = at;
        next = &moves_[i];
      }
      if (!next) return;
      run(*next, start);
    }
  }

  /// A step that begins now and takes `alone` with all processors.
  double end_of_step(double now, double alone) {
    while (contends_ && alone > 0) {
      start_until(std::nextafter(now, never));
      const double rate = 1 - processors_;
      if (channel_ <= now) break;
      if (channel_ >= now + alone / rate) return now + alone / rate;
      alone -= (channel_ - now) * rate;
      now = channel_;
    }
    return now + alone;
  }

  void run(Move& move, double not_before) {
    channel_ = std::max({channel_, made(move), not_before}) + move.seconds;
    processors_ = move.processors;
    move.end = channel_;
    runs_.push_back({move.index, move.end});
  }

  struct Run {
    std::size_t index;  ///< of a collective
    double end;
  };

  const std::vector<Seconds>& steps_;
  int count_;
  std::vector<double> begins_, ends_;   ///< of all iterations' steps
  std::vector<Move> moves_;             ///< by when they are needed
  std::vector<std::size_t> to_make_;    ///< of moves_ those that start by themselves, by what makes them
  std::size_t made_ = 0;                ///< of to_make_, how many are made
  std::vector<std::size_t> ready_;      ///< of those, what may not have started; by when they are needed
  double channel_ = 0;                  ///< free from then on
  double processors_ = 0;               ///< that what it runs takes
  bool contends_ = false;               ///< something takes some
  std::vector<Run> runs_;               ///< what the channel has run or begun, one after the other
};

bool goes_ahead(const std::vector<ScheduledCollective>& collectives) {
  return std::any_of(collectives.begin(), collectives.end(), [](const auto& c) { return c.ahead; });
}

}  // namespace

BodyWaits exposed_in_body(const std::vector<Seconds>& steps, const std::vector<ScheduledCollective>& collectives) {
  if (collectives.empty() || steps.empty()) return {};
  const bool ahead = goes_ahead(collectives);
  return Loop(steps, collectives, ahead ? 3 : 1).waits(collectives.size(), ahead ? 1 : 0);
}

PlacedBody place_body(const std::vector<Seconds>& steps, const std::vector<ScheduledCollective>& collectives) {
  if (steps.empty()) return {};
  const bool ahead = goes_ahead(collectives);
  return Loop(steps, collectives, ahead ? 3 : 1).place(collectives.size(), ahead ? 1 : 0);
}

}  // namespace shardplan
