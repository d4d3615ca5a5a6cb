#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include <hardware/mesh_embedding.hpp>
#include <models/programs/train_program.hpp>
#include <planner/constraints.hpp>
#include <planner/search/batch_options.hpp>
#include <planner/search/enumerate_meshes.hpp>
#include <planner/search/parallel_for.hpp>
#include <planner/search/parallelism.hpp>
#include <planner/train_arguments.hpp>
#include <rules/bind_program.hpp>
#include <rules/resolve.hpp>
#include <shardplan/error.hpp>
#include <unordered_set>

namespace shardplan {
namespace {

// Where neither settings nor model give one; Switch Transformer's training value (Fedus et al. 2021, section 2.2).
constexpr double default_capacity_factor = 1.25;

TrainConfig with_path(TrainConfig config, MoePath path, bool dispatch_peeled) {
  config.moe_path = path;
  config.moe_dispatch_no_expert_sharding = dispatch_peeled;
  if (path == MoePath::dropping && config.capacity_factor <= 0) config.capacity_factor = default_capacity_factor;
  return config;
}

/// A parallelism, or why it is none, or neither: the torus' complaint is told once a mesh.
struct Attempt {
  Parallelism parallelism;
  std::string shardings;  ///< equal strings: the same sharding of every tensor on the same mesh
  std::optional<Infeasible> violation;
};

void add_axes(std::string& text, const AxisList& axes, const Mesh& mesh) {
  for (const AxisId axis : axes) text += mesh.axes[axis].name + '.';
  text += ',';
}

/// Path, axes above 1 in mesh order, then the spec of every tensor in program order.
std::string shardings_of(const Configuration& c) {
  const auto experts = expert_axes(c.rules, c.mesh);
  const Program program =
      train_program(c.model, c.config, {c.mesh.devices(), pipeline_stages(c.mesh), c.mesh.product(experts)});
  const BoundProgram bound = bind_program(program, c.rules, c.mesh);
  std::string text(name_of(c.config.moe_path));
  for (const auto& axis : c.mesh.axes)
    if (axis.size() > 1) text += fmt::format(" {}={}x{}", axis.name, axis.dcn, axis.ici);
  for (const auto& block : bound.blocks)
    for (const auto& spec : block.specs) {
      text += spec ? ';' : '?';
      if (spec)
        for (const auto& axes : spec->dims) add_axes(text, axes, c.mesh);
    }
  add_axes(text, bound.expert_axes, c.mesh);
  return text;
}

/// A ring over experts that every device has. MaxText accepts it where rule `exp` names fsdp, which only splits the
/// stored weights (shard-exp-on-fsdp).
std::optional<Infeasible> needless_ring(const Configuration& c) {
  if (c.config.moe_path != MoePath::ring || !expert_axes(c.rules, c.mesh).empty()) return std::nullopt;
  return Infeasible{"ring-needs-expert-parallelism",
                    fmt::format("use_ring_of_experts on {}: every device has all experts", describe(c.mesh)), 2, 1};
}

/// The double-mapping of SHARDING.md 1.6 is never planned unless it is asked for: with the flag the same mesh exchanges
/// tokens instead of gathering every expert's weights.
std::optional<Infeasible> stolen_expert_axis(const Configuration& c) {
  if (c.config.moe_path != MoePath::dropping || c.config.moe_dispatch_no_expert_sharding) return std::nullopt;
  const AxisList experts = expert_axes(c.rules, c.mesh);
  const PartitionSpec dispatch = resolve({"activation_exp", "activation_batch_moe", "", "activation_embed_moe"}, c.rules, c.mesh);
  const auto on_batch = [&](AxisId axis) { return std::count(dispatch.dims[1].begin(), dispatch.dims[1].end(), axis) > 0; };
  if (std::none_of(experts.begin(), experts.end(), on_batch)) return std::nullopt;
  return Infeasible{"expert-axis-stolen",
                    fmt::format("{} on {}: the batch dim of the dispatch takes the expert axis, so expert weights would be "
                                "gathered; planned with moe_dispatch_no_expert_sharding instead",
                                c.rules.name, describe(c.mesh)),
                    1, 0};
}

Attempt attempt(const SearchSpace& space, std::size_t rules, const Mesh& mesh, MoePath path, bool dispatch_peeled) {
  Attempt made{{rules, mesh, path, dispatch_peeled, {}}, "", std::nullopt};
  const TrainConfig config = with_pipeline_counts(space.base.config, space.base.model, pipeline_stages(mesh));
  made.parallelism.batches = batch_options(space, mesh, batch_unit(space.rule_sets[rules], mesh, config));
  const Configuration smallest =
      configuration_of(space, made.parallelism, space.remat_policies.front(), made.parallelism.batches.front());
  made.violation = needless_ring(smallest);
  if (!made.violation && !space.dispatch_peeled) made.violation = stolen_expert_axis(smallest);
  if (!made.violation) made.violation = first_violation(smallest);
  if (!made.violation) made.shardings = shardings_of(smallest);
  return made;
}

/// With and without moe_dispatch_no_expert_sharding where it could matter.
std::vector<bool> dispatch_choices(const SearchSpace& space, const RuleSet& rules, const Mesh& mesh, MoePath path) {
  if (path != MoePath::dropping) return {false};
  if (space.dispatch_peeled) return {*space.dispatch_peeled};
  return expert_axes(rules, mesh).empty() ? std::vector<bool>{false} : std::vector<bool>{false, true};
}

std::optional<Infeasible> torus_violation(const Configuration& base, const Mesh& mesh) {
  auto fit = embed(base.hardware, base.slice, mesh, base.config.allow_split_physical_axes);
  const auto* infeasible = std::get_if<Infeasible>(&fit);
  return infeasible ? std::optional(*infeasible) : std::nullopt;
}

std::vector<Attempt> attempts_on(const SearchSpace& space, std::size_t rules, const Mesh& mesh) {
  if (auto violation = torus_violation(space.base, mesh)) return {{{}, "", std::move(violation)}};
  std::vector<Attempt> attempts;
  for (const MoePath path : space.moe_paths)
    for (const bool dispatch_peeled : dispatch_choices(space, space.rule_sets[rules], mesh, path))
      attempts.push_back(attempt(space, rules, mesh, path, dispatch_peeled));
  return attempts;
}

struct Place {
  std::size_t rules;
  Mesh mesh;
};

std::vector<Place> places_of(const SearchSpace& space) {
  std::vector<Place> places;
  for (std::size_t rules = 0; rules < space.rule_sets.size(); ++rules)
    for (auto& mesh : enumerate_meshes(space, space.rule_sets[rules])) places.push_back({rules, std::move(mesh)});
  return places;
}

Infeasible unpriced(const std::vector<std::string>& policies) {
  return {"host-traffic-not-priced",
          fmt::format("remat_policy={} moves activations to the host, which is not priced; --remat asks for one",
                      fmt::join(policies, ", ")),
          0, 0};
}

/// Paths that MaxText's decoder for this model does not have (planner/train_arguments.hpp).
std::optional<Infeasible> path_violation(const SearchSpace& space, MoePath path) try {
  const double capacity = with_path(space.base.config, path, false).capacity_factor;
  moe_path_of(space.base.model, path != MoePath::dropping, path == MoePath::ring, capacity);
  return std::nullopt;
} catch (const InputError& error) {
  return Infeasible{"moe-path", error.what(), 0, 0};
}

}  // namespace

Configuration configuration_of(const SearchSpace& space, const Parallelism& parallelism, const std::string& remat,
                               const BatchOption& batch) {
  Configuration configuration = space.base;
  configuration.rules = space.rule_sets[parallelism.rules];
  configuration.mesh = parallelism.mesh;
  TrainConfig& config = configuration.config;
  config = with_remat(with_path(config, parallelism.moe_path, parallelism.dispatch_peeled), remat);
  config = with_pipeline_counts(config, configuration.model, pipeline_stages(parallelism.mesh));
  config.per_device_batch_size = batch.per_device_batch_size;
  config.gradient_accumulation_steps = batch.gradient_accumulation_steps;
  return configuration;
}

Parallelisms enumerate_parallelisms(const SearchSpace& all) {
  Parallelisms found;
  SearchSpace space = all;
  std::erase_if(space.moe_paths, [&](MoePath path) {
    const auto violation = path_violation(all, path);
    if (violation) found.rejections.add(*violation);
    return violation.has_value();
  });
  if (!space.unpriced_policies.empty()) found.rejections.add(unpriced(space.unpriced_policies));
  const auto places = places_of(space);
  std::vector<std::vector<Attempt>> attempts(places.size());
  parallel_for(places.size(),
               [&](std::size_t i) { attempts[i] = attempts_on(space, places[i].rules, places[i].mesh); });
  std::unordered_set<std::string> seen;
  for (auto& on_mesh : attempts)
    for (auto& made : on_mesh)
      if (made.violation)
        found.rejections.add(*made.violation);
      else if (seen.insert(std::move(made.shardings)).second)
        found.list.push_back(std::move(made.parallelism));
  return found;
}

}  // namespace shardplan
