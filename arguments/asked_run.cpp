#include <fmt/format.h>

#include <algorithm>
#include <arguments/asked_run.hpp>
#include <arguments/flag_arguments.hpp>
#include <arguments/model_arguments.hpp>
#include <arguments/passed_arguments.hpp>
#include <arguments/print_configuration.hpp>
#include <arguments/rule_arguments.hpp>
#include <arguments/start_checks.hpp>
#include <arguments/settings/remat_arguments.hpp>
#include <arguments/settings/train_arguments.hpp>
#include <compilers/load_compiler.hpp>
#include <rules/expert_tiles.hpp>
#include <rules/merge_rules.hpp>
#include <shardplan/collective/counted.hpp>
#include <shardplan/error.hpp>

namespace shardplan {
namespace {

void check_tokamax(const Configuration& configuration) {
  const bool needs = needs_tokamax(configuration.config, configuration.compiler.kernels, configuration.model);
  if (!needs || configuration.config.use_tokamax_splash) return;
  const ContextStrategy strategy = configuration.config.context_parallel_strategy;
  throw InputError(configuration.model.masks_keys() && strategy == ContextStrategy::all_gather
                       ? "attention=flash with an indexer needs use_tokamax_splash=true"
                       : fmt::format("context_parallel_strategy={} on TPU needs use_tokamax_splash=true",
                                     name_of(strategy)));
}

void check_stage_axis(const RuleSet& rules) {
  if (!has_axis(rules.mesh_axes, AxisRole::stage))
    throw InputError(fmt::format("ici_pipeline_parallelism: rule set '{}' has no stage axis", rules.name));
}

ModelRules rule_changes(const AskedRun& run) {
  return changes_in_force(run.arguments, run.rules, run.model);
}

/// base.yml has `stage` in no mesh until there is more than one; the axis is valid in an asked mesh all the same.
RuleSet rules_for(const AskedRun& run, const std::vector<AskedAxis>& mesh) {
  const bool names_stages = std::any_of(mesh.begin(), mesh.end(), [](const AskedAxis& axis) {
    return axis_role(axis.name) == AxisRole::stage;
  });
  RuleSet rules = active_rules(run.rules, run.model.rules, rule_changes(run));
  return names_stages ? pipelined(std::move(rules)) : rules;
}

/// Where MaxText doesn't run its defaults mean nothing, and the compiler's kernels stand in for them.
TrainConfig settled(const Settings& settings, const AskedRun& run) {
  const bool launches = run.machine.hardware.launch.hardware != MaxtextHardware::none;
  const Kernels& kernels = run.compiler.kernels;
  return launches ? with_packed_segments(settings.config, settings, kernels) : with_kernels(settings, kernels, run.model);
}

/// A file of a run with a model of one's own has no name for it: MaxText knows the nearest of its own alone.
void check_model_is_named(const GivenArguments& arguments) {
  if (arguments.file_without_model().empty() || !arguments.text("model_name", "").empty()) return;
  throw InputError(fmt::format("{}: it leaves the model to the command line: give --model FILE, the model's own file, or "
                               "model_name=NAME and what stands beside it in the command of the file's comment: settings "
                               "that MaxText's own file of the model would win over",
                               arguments.file_without_model()));
}

/// Of less than a sequence there is nothing to cost.
void check_sequences(const Configuration& c) {
  const std::int64_t devices = c.mesh.devices(), batch = global_batch(c);
  if (batch < 1)
    throw InputError(fmt::format("batch: per_device_batch_size={:g} on {} is less than a sequence",
                                 c.config.per_device_batch_size, counted(devices, "device")));
  if (layer_batch(c) < 1)
    throw InputError(fmt::format("num_pipeline_microbatches={}: {} can't be split into so many",
                                 c.config.num_pipeline_microbatches, counted(batch, "sequence")));
}

/// "; set fsdp=16": the axis that takes what is left over, or the largest, where the others divide the devices.
std::string size_that_fits(const Mesh& asked, std::int64_t devices) {
  const auto usual = asked.find(AxisRole::fsdp);
  const auto largest = std::max_element(asked.axes.begin(), asked.axes.end(),
                                        [](const MeshAxis& a, const MeshAxis& b) { return a.size() < b.size(); });
  const MeshAxis& axis = usual && asked.axes[*usual].size() > 1 ? asked.axes[*usual] : *largest;
  const std::int64_t others = asked.devices() / axis.size();
  return devices % others == 0 ? fmt::format("; set {}={}", axis.name, devices / others) : "";
}

/// In the words of --mesh, whose sizes are then shared out among slices.
void check_devices(const Mesh& asked, const Machine& machine) {
  const std::int64_t devices = machine.devices();
  if (asked.devices() == devices) return;
  const std::string slices =
      machine.num_slices > 1 ? counted(machine.num_slices, joined_noun(machine.hardware.fabric)) + " of " : "";
  throw InputError(fmt::format("--mesh {}: its {} not the {} of {}{}", describe(asked),
                               asked.devices() == 1 ? "1 device is" : counted(asked.devices(), "device") + " are",
                               counted(devices, "device"), slices + machine.slice.name, size_that_fits(asked, devices)));
}

}  // namespace

AskedRun read_run(const GivenArguments& arguments, const MachineChoice& choice) {
  Machine machine = read_machine(arguments, choice);
  check_model_is_named(arguments);
  Model model = named_model(arguments.text("model_name", ""));
  Compiler compiler = compiler_of(machine.hardware, given_flags(arguments).value_or(""));
  return {arguments,          std::move(model),    chosen_rules(arguments),
          std::move(machine), std::move(compiler), read_program(arguments, choice),
          read_mesh_arguments(arguments)};
}

AskedRun on_mesh(AskedRun run, const std::vector<AskedAxis>& mesh) {
  const Mesh asked = asked_mesh(mesh, rules_for(run, mesh).mesh_axes);
  check_devices(asked, run.machine);
  const auto spread = spread_over(asked, run.machine.num_slices);
  if (!spread)
    throw InputError(fmt::format("--mesh {}: its {} can't be spread over {}", describe(asked),
                                 counted(asked.devices(), "device"),
                                 counted(run.machine.num_slices, joined_noun(run.machine.hardware.fabric))));
  for (const auto& axis : spread->axes) set_sizes(run.sizes, axis, run.arguments);
  return run;
}

Configuration configured(const AskedRun& run) {
  Configuration c;
  auto [model, overrides] = changed_model(run.model, run.arguments);
  const Settings settings = read_settings(run.arguments, model);
  c.config = settled(settings, run);
  c.config.program = run.program;
  c.rule_changes = rule_changes(run);
  c.rules = active_rules(run.rules, model.rules, c.rule_changes);
  if (pipelines(run.sizes)) {
    c.rules = pipelined(std::move(c.rules));
    check_stage_axis(c.rules);
  }
  c.mesh = build_mesh(run.sizes, c.rules.mesh_axes, run.machine.slice, run.machine.num_slices);
  c.ignored_places = ignored_places(run.arguments, c.config);
  c.ignored_axes = ignored_axes(run.sizes, c.rules.mesh_axes);
  c.config = with_pipeline_counts(c.config, model, pipeline_stages(c.mesh));
  c.model = std::move(model);
  c.model_overrides = std::move(overrides);
  c.passed_arguments = take_passed_arguments(run.arguments, c.model);
  c.hardware = run.machine.hardware;
  c.compiler = compiler_of_run(run.arguments, run.compiler, c.model.has_experts());
  c.slice = run.machine.slice;
  c.num_slices = run.machine.num_slices;
  c.memory_limits = run.memory_limits;
  c.start_conditions = start_conditions(run.arguments);
  if (!settings.says(&TrainConfig::wi_tile_fwd_mlp_dim)) divide_expert_columns(c);  // the printed command says it
  check_tokamax(c);
  check_start(c);
  check_sequences(c);
  return c;
}

}  // namespace shardplan
