#include <algorithm>
#include <planner/search/space/rejections.hpp>
#include <shardplan/error.hpp>
#include <tuple>

namespace shardplan {
namespace {

/// What has to change for a constraint to be kept; the model: pipelines that no mesh has for it, wanted or not.
enum class Scope { mesh, path, request, model };

Scope scope_of(ConstraintId constraint) {
  switch (constraint) {
    case ConstraintId::moe_path:
    case ConstraintId::ring_needs_megablox:
    case ConstraintId::megablox_needs_tpu:
    case ConstraintId::ragged_buffer:
      return Scope::path;
    case ConstraintId::vocab_tiling:
    case ConstraintId::attention_kernel:
    case ConstraintId::explicit_sharding:
    case ConstraintId::muon_decoder:
    case ConstraintId::optimizer_over_data:
    case ConstraintId::quantization:
      return Scope::request;
    case ConstraintId::hbm:
    case ConstraintId::batch:
    case ConstraintId::batch_divisibility:
    case ConstraintId::sequence_divisibility:
    case ConstraintId::expert_divisibility:
    case ConstraintId::indivisible_dim:
    case ConstraintId::kv_heads:
    case ConstraintId::pipeline_layers:
    case ConstraintId::pipeline_microbatches:
    case ConstraintId::pipeline_batch:
    case ConstraintId::pipeline_prefetch:
    case ConstraintId::pipeline_remat:
    case ConstraintId::ring_needs_expert_parallelism:
    case ConstraintId::random_routing:
    case ConstraintId::sparse_tensor_sequence:
    case ConstraintId::expert_axis_stolen:
    case ConstraintId::dispatch_names_axis_twice:
    case ConstraintId::batch_split:
    case ConstraintId::given_argument:
    case ConstraintId::packing:
    case ConstraintId::context_load_balance:
    case ConstraintId::context_strategy:
    case ConstraintId::multi_token_prediction:
    case ConstraintId::weights_not_sharded:
    case ConstraintId::mesh_does_not_fit_torus:
    case ConstraintId::host_traffic_not_priced:
    case ConstraintId::batch_tokens:
    case ConstraintId::step_seconds:
      return Scope::mesh;
    case ConstraintId::pipeline_layers_differ:
      return Scope::model;
  }
  throw InternalError("unknown ConstraintId");
}

/// It has an amount that a limit is below.
bool is_limit(ConstraintId constraint) {
  return constraint == ConstraintId::hbm || constraint == ConstraintId::step_seconds ||
         constraint == ConstraintId::batch_tokens;
}

}  // namespace

bool Rejections::has(ConstraintId constraint) const { return counts_.contains(constraint); }

std::optional<Seconds> Rejections::least_step(std::optional<Seconds> limit) const {
  const auto slow = counts_.find(ConstraintId::step_seconds);
  if (!limit || slow == counts_.end()) return std::nullopt;
  return *limit + Seconds{static_cast<double>(slow->second.excess) * 1e-6};
}

void Rejections::add(const Infeasible& reason) {
  add(reason.constraint,
      {{reason.constraint, 1, reason.message}, is_limit(reason.constraint) ? reason.needed - reason.available : 0});
}

void Rejections::add(const Rejections& others) {
  for (const auto& [constraint, theirs] : others.counts_) add(constraint, theirs);
}

void Rejections::add(ConstraintId constraint, const Dropped& dropped) {
  const auto [at, is_new] = counts_.try_emplace(constraint, dropped);
  if (is_new) return;
  Dropped& known = at->second;
  known.count.candidates += dropped.count.candidates;
  if (dropped.excess >= known.excess) return;
  known.count.example = dropped.count.example;
  known.excess = dropped.excess;
}

std::vector<RejectionCount> Rejections::sorted() const {
  std::vector<RejectionCount> list;
  for (const auto& [constraint, dropped] : counts_) list.push_back(dropped.count);
  std::sort(list.begin(), list.end(), [](const RejectionCount& a, const RejectionCount& b) {
    return std::tuple(-a.candidates, name_of(a.constraint)) < std::tuple(-b.candidates, name_of(b.constraint));
  });
  return list;
}

std::vector<RejectionCount> Rejections::nearest_first(bool one_path) const {
  const auto distance = [&](const RejectionCount& rejection) {
    if (rejection.constraint == ConstraintId::step_seconds) return 0;
    if (rejection.constraint == ConstraintId::hbm) return 1;
    const Scope scope = scope_of(rejection.constraint);
    if (scope == Scope::model) return 4;
    return scope == Scope::request || (scope == Scope::path && one_path) ? 2 : 3;
  };
  std::vector<RejectionCount> list = sorted();
  std::stable_sort(list.begin(), list.end(), [&](const auto& a, const auto& b) { return distance(a) < distance(b); });
  return list;
}

}  // namespace shardplan
