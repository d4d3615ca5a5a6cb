#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <planner/constraints/pipeline_constraints.hpp>
#include <planner/search/space/pipeline_options.hpp>
#include <shardplan/collective/counted.hpp>
#include <shardplan/rounding.hpp>
#include <shardplan/step_counts.hpp>

namespace shardplan {
namespace {

constexpr std::int64_t searched_repeats[] = {1, 2, 4};
constexpr std::int64_t searched_rounds[] = {1, 2, 4};  // microbatches over stages

std::int64_t pipelined_layers(const SearchSpace& space) {
  return with_pipeline_counts(space.base.config, space.base.model, 2).pipeline_parallel_layers;
}

/// The repeats of a schedule in which a stage has `layers_per_stage` layers; 0 when they don't divide.
std::int64_t repeats_of(std::int64_t layers, std::int64_t stages, std::int64_t layers_per_stage) {
  return layers % (stages * layers_per_stage) == 0 ? layers / (stages * layers_per_stage) : 0;
}

std::vector<std::int64_t> repeat_choices(const SearchSpace& space, std::int64_t stages) {
  const TrainConfig& config = space.base.config;
  const std::int64_t layers = pipelined_layers(space);
  if (space.layers_per_stage_fixed) {
    const std::int64_t repeats = repeats_of(layers, stages, config.num_layers_per_pipeline_stage);
    return repeats == 0 ? std::vector<std::int64_t>{} : std::vector{repeats};
  }
  std::vector<std::int64_t> choices;
  if (config.num_pipeline_repeats != -1)
    choices = {config.num_pipeline_repeats};
  else if (config.pipeline_fsdp_ag_per_repeat)  // of single layers
    choices = {layers / stages};
  else
    choices.assign(std::begin(searched_repeats), std::end(searched_repeats));
  std::erase_if(choices, [&](std::int64_t repeats) { return layers % (stages * repeats) != 0; });
  return choices;
}

std::vector<std::int64_t> microbatch_choices(const TrainConfig& config, std::int64_t stages) {
  if (config.num_pipeline_microbatches != -1) return {config.num_pipeline_microbatches};
  std::vector<std::int64_t> choices;
  for (const std::int64_t rounds : searched_rounds)
    if (rounds > 1 || !config.pipeline_delay_activation_forwarding) choices.push_back(rounds * stages);
  return choices;
}

std::vector<bool> gather_choices(const SearchSpace& space, const Mesh& mesh) {
  const TrainConfig& config = space.base.config;
  if (space.gathered_once_fixed || config.pipeline_fsdp_ag_per_repeat) return {config.pipeline_fsdp_ag_once};
  const bool split = !mesh.axes_of(AxisFamily::fsdp).empty();
  return split ? std::vector<bool>{false, true} : std::vector<bool>{false};
}

}  // namespace

std::vector<PipelineSchedule> pipeline_schedules(const SearchSpace& space, const Mesh& mesh) {
  const std::int64_t stages = pipeline_stages(mesh);
  if (stages == 1) return {{}};
  const std::int64_t layers = pipelined_layers(space);
  std::vector<PipelineSchedule> schedules;
  const auto microbatches = microbatch_choices(space.base.config, stages);
  for (const bool once : gather_choices(space, mesh))
    for (const std::int64_t repeats : repeat_choices(space, stages))
      for (const std::int64_t count : microbatches)
        schedules.push_back({layers / (stages * repeats), repeats, count, once, forwarding_delay(space.base.config)});
  if (schedules.empty()) schedules.push_back({space.base.config.num_layers_per_pipeline_stage, -1, microbatches[0]});
  return schedules;
}

std::vector<int> stage_sizes(const SearchSpace& space, int devices) {
  const std::int64_t layers = pipelined_layers(space);
  const auto common = divisors_of(std::gcd(devices, layers));
  std::vector<int> sizes(common.rbegin(), common.rend());
  std::erase(sizes, 1);
  return sizes;
}

void set_schedule(TrainConfig& config, const PipelineSchedule& schedule, const Model& model, int stages) {
  if (stages == 1) return;
  config.num_layers_per_pipeline_stage = schedule.layers_per_stage;
  config.num_pipeline_repeats = schedule.repeats;
  config.num_pipeline_microbatches = schedule.microbatches;
  config.pipeline_fsdp_ag_once = schedule.gathered_once;
  config = with_pipeline_counts(std::move(config), model, stages);
}

std::optional<Infeasible> pipelines_not_planned(const Model& model) {
  if (model.sublayers_per_layer <= 1) return layers_differ(model);
  return Infeasible{ConstraintId::pipeline_layers_differ,
                    fmt::format("{}: a layer is {} of its own, and such pipelines aren't planned", model.name,
                                counted(model.sublayers_per_layer, "layer")), 0, 0};
}

}  // namespace shardplan
