#include <fmt/format.h>

#include <algorithm>
#include <hardware/load_profile.hpp>
#include <arguments/keys/argument_table.hpp>
#include <planner/check/check_cases.hpp>
#include <planner/check/check_meshes.hpp>
#include <arguments/given_arguments.hpp>
#include <arguments/maxtext_arguments.hpp>
#include <arguments/train_arguments.hpp>
#include <rules/load_rules.hpp>
#include <shardplan/error.hpp>

namespace shardplan {
namespace {

using Words = std::vector<std::string>;

GivenArguments given(const CheckRequest& request) { return {request.key_values, request.config_file}; }

bool is_axis_key(const std::string& key) {
  const auto rows = axis_arguments();
  return std::any_of(rows.begin(), rows.end(), [&](const AxisArgument& row) {
    return key == axis_key("ici", row.axis) || key == axis_key("dcn", row.axis);
  });
}

/// "expert=8" as MaxText's arguments.
Words mesh_words(const std::string& mesh, const RuleSet& rules) {
  const Mesh sizes = parse_mesh(mesh, rules.mesh_axes);
  Words words;
  for (const auto& axis : sizes.axes)
    if (axis.size() > 1 || axis.name == "fsdp")
      words.push_back(fmt::format("{}={}", axis_key("ici", axis.name), axis.size()));
  return words;
}

Words words_of(const CheckRequest& request, const std::string& model) {
  Words words = request.key_values;
  words.push_back("model_name=" + model);
  if (request.rules != "default") words.push_back("custom_mesh_and_rule=" + request.rules);
  if (request.mesh)
    for (auto& word : mesh_words(*request.mesh, load_rules(request.rules))) words.push_back(std::move(word));
  const GivenArguments arguments = given(request);
  if (!arguments.flag("sparse_matmul", true) && !arguments.find("capacity_factor"))
    words.push_back(fmt::format("capacity_factor={}", usual_capacity_factor));
  return words;
}

/// The product of the sizes that the arguments give; -1 and what they leave out count as 1.
int devices_asked_for(const Words& words, const CheckRequest& request) {
  const GivenArguments arguments(words, request.config_file);
  std::int64_t product = 1;
  for (const auto& [key, argument] : arguments.all())
    if (is_axis_key(key)) product *= std::max<std::int64_t>(1, *arguments.integer(key));
  return static_cast<int>(std::min<std::int64_t>(product, 1 << 20));
}

MachineChoice machine_for(const CheckRequest& request, int devices) {
  MachineChoice choice = request.machine;
  if (given(request).find("compile_topology")) return choice;
  if (!choice.hardware) choice.hardware = reference_machine;
  if (!choice.chips) choice.chips = std::max(1, devices / load_profile(*choice.hardware).devices_per_chip);
  return choice;
}

bool gives_path(const CheckRequest& request) {
  const GivenArguments arguments = given(request);
  return arguments.find("sparse_matmul") || arguments.find("use_ring_of_experts");
}

/// gpt_oss and llama4 have no dropping path.
bool takes_dropping(const Model& model) try {
  return moe_path_of(model, false, false, usual_capacity_factor) == MoePath::dropping;
} catch (const InputError&) {
  return false;
}

void add_with_paths(std::vector<Configuration>& cases, Configuration configuration, const CheckRequest& request) {
  const bool both = configuration.model.has_experts() && !gives_path(request) && takes_dropping(configuration.model);
  if (!given(request).find("megablox"))
    configuration.config.megablox = configuration.compiler.kernels.grouped_matmul == GroupedMatmul::megablox;
  cases.push_back(configuration);
  if (!both) return;
  configuration.config.moe_path = MoePath::dropping;
  if (configuration.config.capacity_factor <= 0) configuration.config.capacity_factor = usual_capacity_factor;
  cases.push_back(std::move(configuration));
}

/// The DCN factor on the first axis that the slices divide; none: this mesh does not spread over them.
bool spread_over_slices(Mesh& mesh, int slices) {
  if (slices == 1) return true;
  for (const char* name : {"data", "fsdp"})
    for (auto& axis : mesh.axes)
      if (axis.name == name && axis.ici % slices == 0) {
        axis.ici /= slices;
        axis.dcn = slices;
        return true;
      }
  return false;
}

/// A valid first mesh for `rules`: everything on one axis.
Words any_mesh(const RuleSet& rules) {
  const auto has = [&](const char* axis) {
    return std::find(rules.mesh_axes.begin(), rules.mesh_axes.end(), axis) != rules.mesh_axes.end();
  };
  Words words;
  if (!has("fsdp")) words.push_back(axis_key("ici", has("data") ? "data" : rules.mesh_axes.front()) + "=-1");
  if (!has("data")) words.push_back("dcn_fsdp_parallelism=-1");
  if (!has("data")) words.push_back("dcn_data_parallelism=1");
  return words;
}

std::vector<Configuration> one_mesh(const CheckRequest& request, const std::string& model) {
  const Words words = words_of(request, model);
  std::vector<Configuration> cases;
  add_with_paths(
      cases, read_configuration(words, machine_for(request, devices_asked_for(words, request)), request.config_file),
      request);
  return cases;
}

/// Rules don't depend on how a mesh lies on the torus, so every mesh is taken to fit.
std::vector<Configuration> every_mesh(const CheckRequest& request, const std::string& model, int devices) {
  Words words = words_of(request, model);
  for (auto& word : any_mesh(load_rules(request.rules))) words.push_back(std::move(word));
  Configuration base = read_configuration(words, machine_for(request, devices), request.config_file);
  base.config.allow_split_physical_axes = true;
  if (base.compiler.has(Habit::attention_outside_shard_map) && !given(request).find("attention"))
    base.config.attention = base.compiler.kernels.attention;  // MaxText's default would drown what the rules do
  std::vector<Configuration> cases;
  for (auto& mesh : check_meshes(base.rules, base.model, static_cast<int>(base.mesh.devices()))) {
    base.mesh = std::move(mesh);
    if (spread_over_slices(base.mesh, base.num_slices)) add_with_paths(cases, base, request);
  }
  return cases;
}

}  // namespace

bool gives_mesh(const CheckRequest& request) {
  if (request.mesh) return true;
  const GivenArguments arguments = given(request);
  return std::any_of(arguments.all().begin(), arguments.all().end(), [](const auto& entry) {
    const auto& [key, argument] = entry;
    // A configuration file that begins as a copy of base.yml has every size at its default.
    const bool is_default = argument.in_file && (argument.value == "1" || argument.value == "-1");
    return is_axis_key(key) && !is_default;
  });
}

std::vector<Configuration> check_cases(const CheckRequest& request, const std::string& model) {
  if (gives_mesh(request)) return one_mesh(request, model);
  const bool fixed_size = request.machine.chips || given(request).find("compile_topology");
  if (fixed_size) return every_mesh(request, model, 1);
  std::vector<Configuration> cases;
  for (const int devices : check_device_counts())
    for (auto& configuration : every_mesh(request, model, devices)) cases.push_back(std::move(configuration));
  return cases;
}

}  // namespace shardplan
