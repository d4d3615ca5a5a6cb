#include <planner/evaluate/binder_cache.hpp>

namespace shardplan {

const BindingRules& BinderCache::rules_of(std::size_t number, const RuleSet& rules, const Mesh& mesh) {
  return rules_.try_emplace(number, rules, mesh).first->second;
}

std::shared_ptr<const Binder> BinderCache::binder_of(std::size_t number, const RuleSet& rules, const Mesh& mesh) {
  const std::pair key(number, split_axes(mesh));
  const std::lock_guard lock(mutex_);
  if (const auto known = known_.find(key); known != known_.end()) return known->second;
  auto binder = std::make_shared<const Binder>(rules_of(number, rules, mesh), mesh);
  if (known_.size() >= most) known_.clear();
  return known_.try_emplace(key, std::move(binder)).first->second;
}

}  // namespace shardplan
