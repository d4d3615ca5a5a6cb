#pragma once
// The binders of one search. Meshes that split the same axes bind every program alike, whatever their sizes, and all share
// their rules as they are compiled.
#include <map>
#include <memory>
#include <mutex>
#include <rules/bind_program.hpp>

namespace shardplan {

class BinderCache {
 public:
  /// Of some tens of kilobytes each; with more it begins anew.
  static constexpr std::size_t most = 64;

  /// The binder of `rules` on a mesh; all calls with one `number` have the same rules, and meshes of the same axes, all or
  /// none with stages. Several threads may ask at once.
  std::shared_ptr<const Binder> binder_of(std::size_t number, const RuleSet& rules, const Mesh& mesh);

 private:
  const BindingRules& rules_of(std::size_t number, const RuleSet& rules, const Mesh& mesh);

  std::mutex mutex_;
  std::map<std::size_t, BindingRules> rules_;  ///< by number
  std::map<std::pair<std::size_t, std::uint64_t>, std::shared_ptr<const Binder>> known_;  ///< by number and split axes
};

}  // namespace shardplan
