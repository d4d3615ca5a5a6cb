#include <algorithm>
#include <arguments/mesh_arguments.hpp>
#include <arguments/print_configuration.hpp>
#include <arguments/rule_arguments.hpp>
#include <arguments/train_arguments.hpp>
#include <shardplan/error.hpp>

namespace shardplan {
namespace {

bool moves_the_sequence(ContextStrategy strategy) { return strategy != ContextStrategy::all_gather; }

PrintedArguments printed_machine(const Configuration& configuration) {
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

bool needs_override(const Configuration& configuration, const PrintedArguments& settings) {
  const auto sets = [&](const auto& setting) { return model_sets_setting(configuration.model, setting.first); };
  return !configuration.model_overrides.empty() || std::any_of(settings.begin(), settings.end(), sets);
}

void append(PrintedArguments& printed, const PrintedArguments& more) {
  printed.insert(printed.end(), more.begin(), more.end());
}

}  // namespace

bool needs_tokamax(const Configuration& configuration) {
  return configuration.compiler.kernels.has_tokamax_splash &&
         moves_the_sequence(configuration.config.context_parallel_strategy);
}

PrintedArguments maxtext_arguments(const Configuration& configuration) {
  const PrintedArguments settings = config_as_arguments(configuration.config, printing_baseline(configuration));
  PrintedArguments printed = {{"model_name", configuration.model.name}};
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
