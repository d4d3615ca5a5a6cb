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

  /// On the calling thread alone where another call has the others.
  void run(Job& job) {
    if (is_taken_.exchange(true)) return job.run();
    {
      const std::lock_guard lock(mutex_);
      job_ = &job;
      ++number_;
    }
    begin_.notify_all();
    job.run();
    std::unique_lock lock(mutex_);
    job_ = nullptr;  // nothing is left for who comes now
    end_.wait(lock, [&] { return running_ == 0; });
    is_taken_ = false;
  }

 private:
  void help(const std::stop_token& stop) {
    std::size_t done = 0;
    std::unique_lock lock(mutex_);
    while (begin_.wait(lock, stop, [&] { return number_ != done; })) {
      done = number_;
      if (!job_) continue;
      Job& job = *job_;
      ++running_;
      lock.unlock();
      job.run();
      lock.lock();
      if (--running_ == 0) end_.notify_one();
    }
  }

  std::atomic<bool> is_taken_ = false;
  std::mutex mutex_;
  std::condition_variable_any begin_;
  std::condition_variable end_;
  Job* job_ = nullptr;
  std::size_t number_ = 0, running_ = 0;  ///< of the job; threads that are at it
  std::vector<std::jthread> threads_;     ///< last: they end before what they wait for
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
