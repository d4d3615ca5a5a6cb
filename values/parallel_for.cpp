#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <exception>
#include <mutex>
#include <shardplan/parallel_for.hpp>
#include <thread>
#include <vector>

namespace shardplan {
namespace {

using Work = std::function<void(std::size_t)>;

/// What one call asks for, while it lasts.
class Job {
 public:
  Job(std::size_t count, const Work& work) : work_(work), errors_(count) {}

  bool has_pieces() const { return next_ < errors_.size(); }

  /// Takes pieces until none is left.
  void run() {
    for (std::size_t i = next_++; i < errors_.size(); i = next_++) try {
        work_(i);
      } catch (...) {
        errors_[i] = std::current_exception();
      }
  }

  void rethrow_first_error() const {
    for (const auto& error : errors_)
      if (error) std::rethrow_exception(error);
  }

  int helpers = 0;         ///< threads beside the caller's that are at it; the pool's
  std::size_t number = 0;  ///< of the call; the pool's

 private:
  const Work& work_;
  std::vector<std::exception_ptr> errors_;
  std::atomic<std::size_t> next_ = 0;
};

/// Threads that outlive the calls: a search makes thousands, and starting one costs as much as several candidates.
class Pool {
 public:
  explicit Pool(std::size_t helpers) {
    for (std::size_t i = 0; i < helpers; ++i)
      threads_.emplace_back([this](const std::stop_token& stop) { help(stop); });
  }

  void run(Job& job) {
    {
      const std::lock_guard lock(mutex_);
      job.number = ++calls_;
      open_.push_back(&job);
    }
    begin_.notify_all();
    end_.notify_all();
    job.run();
    std::unique_lock lock(mutex_);
    std::erase(open_, &job);  // nothing is left for who comes now
    while (job.helpers > 0) {
      // Those who are at the last pieces may want help with calls of these; with an earlier call's it could take longer.
      if (Job* later = first_open(job.number))
        help_with(*later, lock);
      else
        end_.wait(lock);
    }
  }

 private:
  /// The call that was made first, behind call `behind`, and has pieces left: those of later ones, made by its pieces, are
  /// smaller. Asked for once: those who are at it take its last piece without the lock.
  Job* first_open(std::size_t behind = 0) const {
    const auto found = std::find_if(open_.begin(), open_.end(),
                                    [&](const Job* job) { return job->number > behind && job->has_pieces(); });
    return found == open_.end() ? nullptr : *found;
  }

  void help_with(Job& job, std::unique_lock<std::mutex>& lock) {
    ++job.helpers;
    lock.unlock();
    job.run();
    lock.lock();
    if (--job.helpers == 0) end_.notify_all();
  }

  void help(const std::stop_token& stop) {
    std::unique_lock lock(mutex_);
    Job* job = nullptr;
    while (begin_.wait(lock, stop, [&] { return (job = first_open()) != nullptr; })) help_with(*job, lock);
  }

  std::mutex mutex_;
  std::condition_variable_any begin_;
  std::condition_variable end_;
  std::size_t calls_ = 0;
  std::vector<Job*> open_;             ///< in the order of their calls
  std::vector<std::jthread> threads_;  ///< last: they end before what they wait for
};

}  // namespace

void parallel_for(std::size_t count, const Work& work) {
  Job job(count, work);
  if (count > 1) {
    static Pool pool(std::max(1u, std::thread::hardware_concurrency()) - 1);
    pool.run(job);
  } else {
    job.run();
  }
  job.rethrow_first_error();
}

}  // namespace shardplan
