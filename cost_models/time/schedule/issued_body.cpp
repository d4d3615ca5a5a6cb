#include <fmt/format.h>

#include <algorithm>
#include <cost_models/time/schedule/issued_body.hpp>
#include <optional>
#include <shardplan/error.hpp>
#include <tuple>

namespace shardplan {
namespace {

/// What the compute stream meets; `of`: a step or a collective.
struct Item {
  enum class Kind : std::uint8_t { step, start, done, whole };  ///< whole: of a collective that isn't asynchronous
  Kind kind = Kind::step;
  int of = 0;
};

ScheduledCollective within_iteration(ScheduledCollective move, int count) {
  if (move.made_by >= move.needed_by)
    throw InternalError(fmt::format("a collective made by step {} and needed by {}", move.made_by, move.needed_by));
  if (move.ahead && (move.made_by < 0 || move.needed_by >= count)) {
    move.made_by = -1;
    move.needed_by = count;
  }
  return move;
}

/// The order of a body, found from its end to its begin. A gap is what lies in front of the step of its number.
class Order {
 public:
  Order(const std::vector<Seconds>& steps, const std::vector<ScheduledCollective>& moves,
        const std::vector<Leaf>& leaves)
      : steps_(steps), moves_(moves), leaves_(leaves), gap_(static_cast<int>(steps.size())), leads_to_(steps.size()) {
    for (const Leaf& leaf : leaves) ++leads_to_[leaf.step];
    is_leaf_.reserve(steps.size());
    for (const int collectives : leads_to_) is_leaf_.push_back(collectives > 0);
    for (int i = 0; i < static_cast<int>(moves.size()); ++i) by_use_.push_back(i);
    std::stable_sort(by_use_.begin(), by_use_.end(), [&](int a, int b) { return moves[a].needed_by < moves[b].needed_by; });
    depths_ = depths();
    items_.reserve(steps.size() + 2 * moves.size());
  }

  std::vector<Item> items() {
    ask();
    while (put_collective() || put_leaf() || put_start_of_leaf() || put_step() || put_start()) {}
    std::reverse(items_.begin(), items_.end());
    return std::move(items_);
  }

 private:
  /// Of each collective: its own seconds and those of the longest chain of collectives that leads to its operand, of all
  /// that are needed by the step which makes it or before.
  std::vector<double> depths() const {
    std::vector<double> found(moves_.size()), until(steps_.size() + 1);
    int step = 0;
    for (const int i : by_use_) {
      const ScheduledCollective& move = moves_[i];
      for (; step < move.needed_by; ++step) until[step + 1] = std::max(until[step + 1], until[step]);
      if (move.asynchronous) found[i] = move.seconds.value + (move.made_by < 0 ? 0 : until[move.made_by]);
      until[move.needed_by] = std::max(until[move.needed_by], found[i]);
    }
    return found;
  }

  /// The readers behind this gap are placed: their collectives' dones may be.
  void ask() {
    for (; !by_use_.empty() && moves_[by_use_.back()].needed_by >= gap_; by_use_.pop_back()) {
      const int i = by_use_.back();
      if (moves_[i].asynchronous)
        waiting_.push_back(i);
      else
        items_.push_back({Item::Kind::whole, i}), release_leaves(i);
    }
  }

  void release_leaves(int move) {
    for (const Leaf& leaf : leaves_)
      if (static_cast<int>(leaf.collective) == move && --leads_to_[leaf.step] == 0) ready_.push_back(leaf.step);
  }

  /// The next step in front of this gap can't run before the collective is started.
  bool holds_up(int move) const {
    const int step = moves_[move].made_by;
    return step + 1 >= gap_ && step >= 0 && !is_leaf_[step];
  }

  bool starts() const {
    if (left_ <= 0 && (!waiting_.empty() || moves_[*open_].made_by >= 0)) return true;
    if (!ready_.empty()) return false;
    if (holds_up(*open_)) return true;
    return std::any_of(waiting_.begin(), waiting_.end(), [&](int i) { return holds_up(i); });
  }

  void start() {
    items_.push_back({Item::Kind::start, *open_});
    release_leaves(*open_);
    open_.reset();
  }

  bool put_collective() {
    if (open_) {
      if (!starts()) return false;
      start();
      return true;
    }
    if (waiting_.empty()) return false;
    const auto next = std::max_element(waiting_.begin(), waiting_.end(), [&](int a, int b) {
      return std::tuple(depths_[a], moves_[a].needed_by, a) < std::tuple(depths_[b], moves_[b].needed_by, b);
    });
    open_ = *next;
    left_ = moves_[*next].seconds.value;
    items_.push_back({Item::Kind::done, *next});
    waiting_.erase(next);
    return true;
  }

  void put(int step) {
    items_.push_back({Item::Kind::step, step});
    if (open_) left_ -= steps_[step].value;
  }

  bool put_leaf() {
    if (ready_.empty()) return false;
    put(ready_.back());
    ready_.pop_back();
    return true;
  }

  bool put_step() {
    if (gap_ == 0) return false;
    if (!is_leaf_[--gap_]) put(gap_);
    ask();
    return true;
  }

  /// What leads to leaves comes before them: it hides none of their sums.
  bool put_start_of_leaf() { return open_ && moves_[*open_].of_leaf && put_start(); }

  /// Nothing else can come before it.
  bool put_start() {
    if (!open_) return false;
    start();
    return true;
  }

  const std::vector<Seconds>& steps_;
  const std::vector<ScheduledCollective>& moves_;
  const std::vector<Leaf>& leaves_;
  int gap_;
  std::vector<int> leads_to_;  ///< of each step, how many collectives of its result aren't started
  std::vector<bool> is_leaf_;
  std::vector<int> by_use_;   ///< collectives whose readers aren't placed, the last needed at the end
  std::vector<double> depths_;
  std::vector<int> waiting_;  ///< their readers are placed, the channel isn't free
  std::optional<int> open_;   ///< its done is placed, its start isn't
  double left_ = 0;           ///< of what it takes
  std::vector<int> ready_;    ///< leaves whose collectives are started
  std::vector<Item> items_;
};

/// The compute stream, item by item.
class Walk {
 public:
  Walk(const std::vector<Seconds>& steps, const std::vector<ScheduledCollective>& collectives) : steps_(steps) {
    moves_.reserve(collectives.size());
    for (const ScheduledCollective& c : collectives) moves_.push_back(within_iteration(c, static_cast<int>(steps.size())));
    ends_.resize(moves_.size());
  }

  BodyWaits run(const std::vector<Leaf>& leaves, PlacedBody* placed) {
    found_.exposed.resize(moves_.size());
    if (placed) placed->steps.resize(steps_.size());
    for (const Item& item : Order(steps_, moves_, leaves).items()) {
      if (item.kind == Item::Kind::step)
        step(item.of, placed);
      else
        meet(item, placed);
    }
    return std::move(found_);
  }

 private:
  void meet(const Item& item, PlacedBody* placed) {
    const auto index = static_cast<std::size_t>(item.of);
    if (item.kind == Item::Kind::whole) wait_until(channel_, running_, placed);
    if (item.kind != Item::Kind::done) {
      const double begin = std::max(now_, channel_);
      ends_[index] = channel_ = begin + moves_[index].seconds.value;
      processors_ = moves_[index].processors;
      running_ = index;
      if (placed) placed->moves.push_back({index, {{begin}, {channel_}}});
    }
    if (item.kind != Item::Kind::start) wait_until(ends_[index], index, placed);
  }

  void wait_until(double end, std::size_t collective, PlacedBody* placed) {
    if (end <= now_) return;
    found_.exposed[collective] += Seconds{end - now_};
    if (placed) placed->waits.push_back({collective, {{now_}, {end}}});
    now_ = end;
  }

  /// Beside a collective a step has the processors that it leaves.
  void step(int index, PlacedBody* placed) {
    const double alone = steps_[index].value, begin = now_;
    const double beside = std::min(alone, std::max(channel_ - now_, 0.0) * (1 - processors_));
    now_ += beside / (1 - processors_) + (alone - beside);
    found_.contention += Seconds{beside / (1 - processors_) - beside};
    if (placed) placed->steps[index] = {{begin}, {now_}};
  }

  const std::vector<Seconds>& steps_;
  std::vector<ScheduledCollective> moves_;
  std::vector<double> ends_;  ///< of those that have been started
  double now_ = 0, channel_ = 0;  ///< the channel is busy until then
  std::size_t running_ = 0;       ///< what it runs, and the share of processors that this takes
  double processors_ = 0;
  BodyWaits found_;
};

}  // namespace

BodyWaits exposed_as_issued(const std::vector<Seconds>& steps, const std::vector<ScheduledCollective>& collectives,
                            const std::vector<Leaf>& leaves) {
  if (collectives.empty() || steps.empty()) return {};
  return Walk(steps, collectives).run(leaves, nullptr);
}

PlacedBody place_as_issued(const std::vector<Seconds>& steps, const std::vector<ScheduledCollective>& collectives,
                           const std::vector<Leaf>& leaves) {
  if (steps.empty()) return {};
  PlacedBody placed;
  Walk(steps, collectives).run(leaves, &placed);
  return placed;
}

}  // namespace shardplan
