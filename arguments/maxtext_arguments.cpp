#include <fmt/format.h>

#include <algorithm>
#include <arguments/argument_values.hpp>
#include <arguments/maxtext_arguments.hpp>
#include <arguments/mesh_arguments.hpp>
#include <arguments/model_arguments.hpp>
#include <arguments/rule_arguments.hpp>
#include <arguments/train_arguments.hpp>
#include <compilers/load_compiler.hpp>
#include <shardplan/error.hpp>

namespace shardplan {
namespace {

using Printed = std::vector<std::pair<std::string, std::string>>;

bool moves_the_sequence(const std::string& strategy) { return strategy != "all_gather"; }

// MaxText configs/types.py: ring, ulysses and usp on TPU are written in the Tokamax kernel alone.
bool needs_tokamax(const Configuration& configuration) {
  return configuration.compiler.kernels.has_tokamax_splash &&
         moves_the_sequence(configuration.config.context_parallel_strategy);
}

void check_tokamax(const GivenArguments& arguments, const Configuration& configuration) {
  const bool given = arguments.flag("use_tokamax_splash", false);
  if (needs_tokamax(configuration) && !given)
    throw InputError(fmt::format("context_parallel_strategy={} on TPU needs use_tokamax_splash=true",
                                 configuration.config.context_parallel_strategy));
}

void check_stage_axis(const RuleSet& rules, bool pipelining) {
  const bool has_stage = std::find(rules.mesh_axes.begin(), rules.mesh_axes.end(), "stage") != rules.mesh_axes.end();
  if (pipelining && !has_stage)
    throw InputError(fmt::format("ici_pipeline_parallelism: rule set '{}' has no stage axis", rules.name));
}

Printed printed_machine(const Configuration& configuration) {
  const Launch& launch = configuration.hardware.launch;
  if (launch.compile_topology)
    return {{"compile_topology", configuration.slice.name},
            {"compile_topology_num_slices", std::to_string(configuration.num_slices)}};
  switch (launch.hardware) {
    case MaxtextHardware::tpu:  // base.yml's default
    case MaxtextHardware::none:
      return {};
    case MaxtextHardware::gpu:
      return {{"hardware", "gpu"}};
  }
  throw InternalError("unknown MaxtextHardware");
}

// The defaults under this mesh: counts that follow from it are not worth printing.
TrainConfig printing_baseline(const Configuration& configuration) {
  TrainConfig derived = configuration.config;
  derived.num_pipeline_microbatches = derived.num_pipeline_repeats = derived.pipeline_parallel_layers = -1;
  derived = with_pipeline_counts(derived, configuration.model, pipeline_stages(configuration.mesh));
  TrainConfig baseline = default_train_config(configuration.model);
  baseline.num_pipeline_microbatches = derived.num_pipeline_microbatches;
  baseline.num_pipeline_repeats = derived.num_pipeline_repeats;
  baseline.pipeline_parallel_layers = derived.pipeline_parallel_layers;
  return baseline;
}

bool needs_override(const Configuration& configuration, const Printed& settings) {
  const auto sets = [&](const auto& setting) { return model_sets_setting(configuration.model, setting.first); };
  return !configuration.model_overrides.empty() || std::any_of(settings.begin(), settings.end(), sets);
}

void append(Printed& printed, const Printed& more) { printed.insert(printed.end(), more.begin(), more.end()); }

}  // namespace

Configuration read_configuration(std::span<const std::string> key_values, const MachineChoice& choice,
                                 const std::optional<std::string>& config_file) {
  const GivenArguments arguments(key_values, config_file);
  Configuration configuration;
  auto [hardware, slice, num_slices] = read_machine(arguments, choice);
  auto [model, overrides] = read_model(arguments);
  configuration.config = read_train_config(arguments, model);
  configuration.config.program = read_program(arguments, choice);
  const MeshArguments sizes = read_mesh_arguments(arguments);
  configuration.rule_changes = read_rule_changes(arguments, model);
  configuration.rules = read_rules(arguments, model, configuration.rule_changes, pipelines(sizes));
  check_stage_axis(configuration.rules, pipelines(sizes));
  configuration.mesh = build_mesh(sizes, configuration.rules.mesh_axes, slice, num_slices);
  configuration.ignored_axes = ignored_axes(sizes, configuration.rules.mesh_axes);
  configuration.config = with_pipeline_counts(configuration.config, model, pipeline_stages(configuration.mesh));
  configuration.model = std::move(model);
  configuration.model_overrides = std::move(overrides);
  configuration.compiler = load_compiler(hardware.compiler);
  if (hardware.launch.hardware == MaxtextHardware::none)  // where MaxText's defaults mean nothing
    configuration.config = with_kernels(configuration.config, configuration.compiler.kernels, arguments);
  configuration.hardware = std::move(hardware);
  configuration.slice = std::move(slice);
  configuration.num_slices = num_slices;
  check_tokamax(arguments, configuration);
  configuration.maxtext_arguments = maxtext_arguments(configuration);
  return configuration;
}

Printed maxtext_arguments(const Configuration& configuration) {
  const Printed settings = config_as_arguments(configuration.config, printing_baseline(configuration));
  Printed printed = {{"model_name", configuration.model.name}};
  append(printed, printed_machine(configuration));
  append(printed, rules_as_arguments(configuration.rules, configuration.rule_changes));
  append(printed, mesh_as_arguments(configuration.mesh, configuration.num_slices));
  append(printed, settings);
  if (needs_tokamax(configuration)) printed.emplace_back("use_tokamax_splash", "true");
  for (const auto& [key, value] : configuration.model_overrides) printed.emplace_back(key, std::to_string(value));
  if (needs_override(configuration, settings)) printed.emplace_back("override_model_config", "true");
  return printed;
}

}  // namespace shardplan
