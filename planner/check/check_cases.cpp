#include <arguments/settings/train_arguments.hpp>
#include <planner/check/check_cases.hpp>
#include <planner/check/check_meshes.hpp>
#include <models/moe_paths.hpp>

namespace shardplan {
namespace {

bool gives_path(const CheckRequest& request) {
  return request.run.arguments.find("sparse_matmul") || request.run.arguments.find("use_ring_of_experts");
}

/// gpt_oss and llama4 have no dropping path.
bool takes_dropping(const Model& model) {
  return !path_refusal(model, MoePath::dropping, usual_capacity_factor);
}

void add_with_paths(std::vector<Configuration>& cases, Configuration configuration, const CheckRequest& request) {
  const bool both = configuration.model.has_experts() && !gives_path(request) && takes_dropping(configuration.model);
  if (!request.run.arguments.find("megablox"))
    configuration.config.megablox = configuration.compiler.kernels.runs_megablox();
  cases.push_back(configuration);
  if (!both) return;
  configuration.config.moe_path = MoePath::dropping;
  if (configuration.config.capacity_factor <= 0) configuration.config.capacity_factor = usual_capacity_factor;
  cases.push_back(std::move(configuration));
}

/// The DCN factor on the first axis that the slices divide; none: this mesh does not spread over them.
bool spread_over_slices(Mesh& mesh, int slices) {
  if (slices == 1) return true;
  for (const AxisRole role : roles_with(&AxisTraits::takes_devices)) {
    const auto found = mesh.find(role);
    if (!found || mesh.axes[*found].ici % slices != 0) continue;
    mesh.axes[*found].ici /= slices;
    mesh.axes[*found].dcn = slices;
    return true;
  }
  return false;
}

Configuration configured_for(const CheckRequest& request, const Model& model, const Machine& machine) {
  AskedRun run = request.run;
  run.model = model;
  run.machine = machine;
  return configured(run);
}

/// Rules don't depend on how a mesh lies on the torus, so every mesh is taken to fit.
void add_every_mesh(std::vector<Configuration>& cases, const CheckRequest& request, Configuration base) {
  base.config.allow_split_physical_axes = true;
  const bool is_unusual = base.compiler.has(Habit::attention_outside_shard_map) || base.model.masks_keys();
  if (is_unusual && !request.run.arguments.find("attention")) {
    // MaxText's default would drown what the rules do, or is refused: an indexer's mask takes one kernel alone.
    const Settings settings = read_settings(request.run.arguments, base.model);
    base.config = with_attention_kernel(std::move(base.config), settings, base.compiler.kernels, base.model);
  }
  for (auto& mesh : check_meshes(base.rules, base.model, static_cast<int>(base.mesh.devices()))) {
    base.mesh = std::move(mesh);
    if (spread_over_slices(base.mesh, base.num_slices)) add_with_paths(cases, base, request);
  }
}

}  // namespace

std::vector<Configuration> check_cases(const CheckRequest& request, const Model& model) {
  std::vector<Configuration> cases;
  for (const Machine& machine : request.machines) {
    Configuration base = configured_for(request, model, machine);
    if (request.gives_mesh)
      add_with_paths(cases, std::move(base), request);
    else
      add_every_mesh(cases, request, std::move(base));
  }
  return cases;
}

}  // namespace shardplan
