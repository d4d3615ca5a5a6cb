#include <planner/evaluate/configuration_pool.hpp>

namespace shardplan {

LentConfiguration::~LentConfiguration() {
  if (configuration_) pool_.give_back(number_, std::move(configuration_));
}

LentConfiguration ConfigurationPool::lend(std::size_t number, const Configuration& base, const RuleSet& rules) {
  {
    const std::lock_guard lock(mutex_);
    auto& free = free_[number];
    if (!free.empty()) {
      auto last = std::move(free.back());
      free.pop_back();
      return {*this, number, std::move(last)};
    }
  }
  auto copy = std::make_unique<Configuration>(base);
  copy->rules = rules;
  return {*this, number, std::move(copy)};
}

void ConfigurationPool::give_back(std::size_t number, std::unique_ptr<Configuration> configuration) {
  const std::lock_guard lock(mutex_);
  free_[number].push_back(std::move(configuration));
}

}  // namespace shardplan
