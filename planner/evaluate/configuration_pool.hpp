#pragma once
// Configurations that a search changes from candidate to candidate. Copying model, machine, compiler and rules takes as long
// as looking at a candidate's memory: who has done with one gives it back, and the next changes it further.
#include <map>
#include <memory>
#include <mutex>
#include <shardplan/configuration.hpp>
#include <utility>
#include <vector>

namespace shardplan {

class ConfigurationPool;

/// One that its holder alone changes; back in the pool at the end of its life.
class LentConfiguration {
 public:
  LentConfiguration(ConfigurationPool& pool, std::size_t number, std::unique_ptr<Configuration> configuration)
      : pool_(pool), number_(number), configuration_(std::move(configuration)) {}
  LentConfiguration(LentConfiguration&&) = default;
  ~LentConfiguration();

  Configuration& operator*() const { return *configuration_; }
  Configuration* operator->() const { return configuration_.get(); }

 private:
  ConfigurationPool& pool_;
  std::size_t number_;
  std::unique_ptr<Configuration> configuration_;
};

class ConfigurationPool {
 public:
  /// One that was lent under this number before, else a copy of `base` with `rules`. Its mesh and its settings are whatever
  /// they were; all else is as in `base`, which with every call is the same but for these two, and so are the rules of a
  /// number. Several threads may ask at once.
  LentConfiguration lend(std::size_t number, const Configuration& base, const RuleSet& rules);

 private:
  friend class LentConfiguration;
  void give_back(std::size_t number, std::unique_ptr<Configuration> configuration);

  std::mutex mutex_;
  std::map<std::size_t, std::vector<std::unique_ptr<Configuration>>> free_;  ///< by number
};

}  // namespace shardplan
