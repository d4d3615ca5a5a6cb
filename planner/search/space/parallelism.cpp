#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <hardware/network/mesh_embedding.hpp>
#include <map>
#include <models/moe_paths.hpp>
#include <planner/constraints/constraints.hpp>
#include <planner/search/space/alternatives.hpp>
#include <planner/search/space/attempts.hpp>
#include <planner/search/space/enumerate_meshes.hpp>
#include <rules/expert_tiles.hpp>
#include <shardplan/parallel_for.hpp>
#include <set>
#include <string_view>
#include <tuple>
#include <unordered_map>
#include <utility>

namespace shardplan {
namespace {

TrainConfig with_path(const SearchSpace& space, MoePath path, bool dispatch_peeled) {
  TrainConfig config = space.base.config;
  config.moe_path = path;
  config.moe_dispatch_no_expert_sharding = dispatch_peeled;
  config.capacity_factor = capacity_on(path, config.capacity_factor, space.capacity_fixed);
  return config;
}

/// One document a sequence: nothing to count.
TrainConfig unpacked(TrainConfig config) {
  config.packing = false;
  config.max_segments_per_seq = TrainConfig{}.max_segments_per_seq;
  return config;
}

std::string mesh_text(const Mesh& mesh) {
  std::string text;
  for (const auto& axis : mesh.axes)
    if (axis.size() > 1) text += fmt::format("{}={}x{} ", axis.name, axis.dcn, axis.ici);
  return text;
}

std::optional<Infeasible> torus_violation(const Configuration& base, const Mesh& mesh) {
  auto fit = embed(base.hardware, base.slice, mesh, device_order(base.config));
  const auto* infeasible = std::get_if<Infeasible>(&fit);
  return infeasible ? std::optional(*infeasible) : std::nullopt;
}

struct Place {
  std::size_t rules;
  Mesh mesh;
};

/// What all but the torus depends on: the same rules, sizes, and sizes between slices of axes other than those that grow
/// there by themselves.
using Kind = std::tuple<std::size_t, std::vector<std::pair<std::string_view, int>>, std::vector<int>>;

Kind kind_of(const Place& place) {
  Kind kind{place.rules, {}, {}};
  for (const MeshAxis& axis : place.mesh.axes) {
    std::get<1>(kind).emplace_back(axis.name, axis.size());
    if (!traits_of(axis.role).grows_between_slices) std::get<2>(kind).push_back(axis.dcn);
  }
  return kind;
}

using PlacesByKind = std::map<Kind, std::vector<std::size_t>>;

PlacesByKind places_by_kind(const std::vector<Place>& places) {
  PlacesByKind kinds;
  for (std::size_t i = 0; i < places.size(); ++i) kinds[kind_of(places[i])].push_back(i);
  return kinds;
}

/// Whether fsdp could take a factor of what data has, on a mesh that is searched: it would split the weights, too.
bool leaves_data_to_fsdp(const Mesh& mesh, const Kind& kind, const PlacesByKind& kinds,
                         const std::vector<Place>& places, const SearchSpace& space) {
  const auto data = mesh.find(AxisRole::data), fsdp = mesh.find(AxisRole::fsdp);
  if (!data || !fsdp || mesh.size(*fsdp) == 1) return false;
  Kind other = kind;
  auto& sizes = std::get<1>(other);
  const int copies = mesh.size(*data), shards = mesh.size(*fsdp);
  for (int factor = 2; factor <= copies; ++factor) {
    if (copies % factor != 0) continue;
    sizes[*data].second = copies / factor;
    sizes[*fsdp].second = shards * factor;
    const auto found = kinds.find(other);
    if (found == kinds.end()) continue;
    const auto fits = [&](std::size_t place) { return !torus_violation(space.base, places[place].mesh); };
    if (std::any_of(found->second.begin(), found->second.end(), fits)) return true;
  }
  return false;
}

std::vector<Attempt> moved_to(std::vector<Attempt> attempts, const Mesh& mesh, std::size_t place) {
  for (Attempt& attempt : attempts) {
    attempt.parallelism.mesh = mesh;
    attempt.parallelism.place = place;
  }
  return attempts;
}

/// By place.
std::vector<std::vector<Attempt>> attempts_on(const SearchSpace& space, const std::vector<Place>& places) {
  std::vector<std::vector<Attempt>> attempts(places.size());
  const PlacesByKind by_kind = places_by_kind(places);
  std::vector<const PlacesByKind::value_type*> kinds;
  for (const auto& kind : by_kind) kinds.push_back(&kind);
  parallel_for(kinds.size(), [&](std::size_t i) {
    const auto& [kind, of_kind] = *kinds[i];
    std::optional<std::vector<Attempt>> known;
    for (const std::size_t place : of_kind) {
      const Mesh& mesh = places[place].mesh;
      if (auto violation = torus_violation(space.base, mesh)) {
        attempts[place] = {{{}, nullptr, std::move(violation)}};
        continue;
      }
      if (!known)
        known = attempts_under(space, places[place].rules, mesh,
                               !leaves_data_to_fsdp(mesh, kind, by_kind, places, space));
      attempts[place] = moved_to(*known, mesh, place);
    }
  });
  return attempts;
}

/// A number for each text; equal ones have the same.
class Numbers {
 public:
  std::size_t of(const std::string& text) { return known_.try_emplace(text, known_.size()).first->second; }

 private:
  std::unordered_map<std::string, std::size_t> known_;
};

/// The same sharding, schedule, place of the optimizer and blocks of attention, whatever they are called.
class SeenAttempts {
 public:
  /// Whether it is the first of its kind on `mesh`.
  bool insert(std::size_t mesh, const Attempt& attempt) {
    if (attempt.shardings.get() != last_) {
      last_ = attempt.shardings.get();
      number_of_last_ = shardings_.of(*attempt.shardings);
    }
    const Parallelism& p = attempt.parallelism;
    const std::int64_t passes = p.batches.front().gradient_accumulation_steps;
    return seen_.insert({mesh, number_of_last_, p.schedule, p.optimizer_over_data, passes, p.attention_blocks}).second;
  }

 private:
  Numbers shardings_;
  const std::string* last_ = nullptr;
  std::size_t number_of_last_ = 0;
  std::set<std::tuple<std::size_t, std::size_t, PipelineSchedule, bool, std::int64_t, std::optional<SplashBlocks>>> seen_;
};

std::vector<Place> places_of(const SearchSpace& space) {
  std::vector<Place> places;
  for (std::size_t rules = 0; rules < space.rule_sets.size() && space.plain_meshes; ++rules)
    for (auto& mesh : enumerate_meshes(space, space.rule_sets[rules])) places.push_back({rules, std::move(mesh)});
  for (std::size_t rules = 0; rules < space.rule_sets.size(); ++rules)
    if (const auto& set = space.pipelined_sets[rules])
      for (auto& mesh : enumerate_pipelined_meshes(space, *set)) places.push_back({rules, std::move(mesh)});
  return places;
}

Infeasible unpriced(const std::vector<RematPolicy>& policies) {
  std::vector<std::string> names;
  for (const RematPolicy& policy : policies) names.push_back(policy.name);
  return {ConstraintId::host_traffic_not_priced,
          fmt::format("remat_policy={} moves activations to the host, and the profile has no host_link_bandwidth",
                      fmt::join(names, ", ")),
          0, 0};
}

/// The least that a step of any mesh has.
std::optional<Infeasible> sequence_violation(const SearchSpace& space) {
  const TrainConfig& config = space.base.config;
  const std::int64_t tokens = config.max_target_length * config.gradient_accumulation_steps;
  if (!space.searches_batch() || tokens <= space.max_batch_tokens) return std::nullopt;
  return Infeasible{ConstraintId::batch_tokens,
                    fmt::format("a step has {} tokens at least on any mesh, a sequence{} of {}, more than {} "
                                "(--max-batch-tokens)",
                                tokens, config.gradient_accumulation_steps > 1 ? " a pass" : "", config.max_target_length,
                                space.max_batch_tokens),
                    tokens, space.max_batch_tokens};
}

/// Paths that MaxText's decoder for this model does not have.
std::optional<Infeasible> path_violation(const SearchSpace& space, MoePath path) {
  const double capacity = with_path(space, path, false).capacity_factor;
  const auto refusal = path_refusal(space.base.model, path, capacity);
  return refusal ? std::optional(Infeasible{ConstraintId::moe_path, *refusal, 0, 0}) : std::nullopt;
}

/// Of meshes that the torus holds.
std::string refused_everywhere(const std::vector<std::vector<Attempt>>& attempts) {
  std::string refusal;
  for (const auto& on_mesh : attempts)
    for (const Attempt& attempt : on_mesh) {
      if (attempt.violation && attempt.violation->constraint == ConstraintId::mesh_does_not_fit_torus) continue;
      if (!attempt.violation || attempt.violation->constraint != ConstraintId::given_argument) return "";
      if (refusal.empty()) refusal = attempt.violation->message;
    }
  return refusal;
}

}  // namespace

void set_config(Configuration& configuration, const SearchSpace& space, const Parallelism& parallelism,
                const RematPolicy& remat, const BatchOption& batch) {
  TrainConfig& config = configuration.config;
  config = with_path(space, parallelism.moe_path, parallelism.dispatch_peeled);
  set_remat(config, remat);
  set_schedule(config, parallelism.schedule, configuration.model, pipeline_stages(parallelism.mesh));
  config.shard_optimizer_over_data = parallelism.optimizer_over_data;
  if (parallelism.attention_blocks) config = with_splash_blocks(std::move(config), *parallelism.attention_blocks);
  set_batch(config, batch);
  if (!space.packing_fixed && packing_violation(configuration)) config = unpacked(config);
  if (!space.expert_tile_fixed) divide_expert_columns(configuration);
}

Configuration configuration_of(const SearchSpace& space, const Parallelism& parallelism, const RematPolicy& remat,
                               const BatchOption& batch) {
  Configuration configuration = space.base;
  configuration.rules = rules_on(space, parallelism.rules, parallelism.mesh);
  configuration.mesh = parallelism.mesh;
  set_config(configuration, space, parallelism, remat, batch);
  return configuration;
}

LentConfiguration lend_configuration(const SearchSpace& space, const Parallelism& parallelism, const RematPolicy& remat,
                                     const BatchOption& batch) {
  const Mesh& mesh = parallelism.mesh;
  LentConfiguration lent = space.configurations->lend(number_of_rules(parallelism.rules, mesh), space.base,
                                                      rules_on(space, parallelism.rules, mesh));
  lent->mesh = mesh;
  set_config(*lent, space, parallelism, remat, batch);
  return lent;
}

Parallelisms enumerate_parallelisms(const SearchSpace& all) {
  Parallelisms found;
  SearchSpace space = all;
  if (!space.unpriced_policies.empty()) found.rejections.add(unpriced(space.unpriced_policies));
  std::erase_if(space.moe_paths, [&](MoePath path) {
    const auto violation = path_violation(all, path);
    if (violation) found.rejections.add(*violation);
    return violation.has_value();
  });
  const bool asks_for_stages = space.asks_for(AxisRole::stage);
  if (const auto differ = pipelines_not_planned(space.base.model); differ && !asks_for_stages) {
    found.rejections.add(*differ);
    space.pipelined_sets.assign(space.rule_sets.size(), std::nullopt);
  }
  const auto places = places_of(space);
  found.meshes = places.size();
  if (space.remat_policies.empty()) return found;  // none of them is priced
  if (const auto violation = sequence_violation(space)) {
    found.rejections.add(*violation);
    return found;
  }
  auto attempts = attempts_on(space, places);
  found.refused = refused_everywhere(attempts);
  Numbers meshes;
  SeenAttempts seen;
  for (std::size_t place = 0; place < places.size(); ++place) {
    const std::size_t mesh = meshes.of(mesh_text(places[place].mesh));
    for (auto& made : attempts[place])
      if (made.violation)
        found.rejections.add(*made.violation);
      else if (seen.insert(mesh, made))
        found.list.push_back(std::move(made.parallelism));
  }
  number_alternatives(found.list);
  return found;
}

}  // namespace shardplan
