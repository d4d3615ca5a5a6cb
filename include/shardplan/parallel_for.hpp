#pragma once
// Independent pieces of work on all cores. Each piece writes only its own result, so that the outcome does not depend
// on which thread did what when.
#include <atomic>
#include <cstddef>
#include <exception>
#include <thread>
#include <vector>

namespace shardplan {

/// work(0) … work(count-1), in any order. Rethrows the error of the lowest index that failed.
template <class Work>
void parallel_for(std::size_t count, const Work& work) {
  std::vector<std::exception_ptr> errors(count);
  std::atomic<std::size_t> next = 0;
  const auto run = [&] {
    for (std::size_t i = next++; i < count; i = next++) try {
        work(i);
      } catch (...) {
        errors[i] = std::current_exception();
      }
  };
  const std::size_t cores = std::max(1u, std::thread::hardware_concurrency());
  std::vector<std::jthread> helpers;
  for (std::size_t i = 1; i < std::min(cores, count); ++i) helpers.emplace_back(run);
  run();
  helpers.clear();  // joins
  for (const auto& error : errors)
    if (error) std::rethrow_exception(error);
}

}  // namespace shardplan
