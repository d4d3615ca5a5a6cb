#include <fmt/format.h>

#include <planner/constraints/pipeline_constraints.hpp>
#include <planner/constraints/violation.hpp>
#include <shardplan/collective/counted.hpp>

namespace shardplan {
namespace {

Infeasible mixed(const Model& model, const char* what) {
  return {ConstraintId::pipeline_layers_differ,
          fmt::format("{}: {}, but MaxText's stages repeat one layer: it would train another model", model.name, what),
          0, 0};
}

Violation pipeline_layers_alike(const Configuration& c) {
  return pipeline_stages(c.mesh) == 1 ? std::nullopt : layers_differ(c.model);
}

Violation pipeline_layers(const Configuration& c) {
  const std::int64_t stages = pipeline_stages(c.mesh), per_stage = c.config.num_layers_per_pipeline_stage;
  if (stages == 1) return std::nullopt;
  const std::int64_t layers = c.config.pipeline_parallel_layers, repeats = c.config.num_pipeline_repeats;
  if (repeats < 1)
    return Infeasible{
        ConstraintId::pipeline_layers,
        fmt::format("{} of {} don't divide the {} in the pipeline", counted(stages, "stage"),
                    counted(per_stage, "layer"), counted(layers, "layer")),
        stages * per_stage, layers};
  if (stages * repeats * per_stage == layers) return std::nullopt;
  return Infeasible{ConstraintId::pipeline_layers,
                    fmt::format("{} x {} x {} a stage is {}, but {} in the pipeline", counted(stages, "stage"),
                                counted(repeats, "repeat"), counted(per_stage, "layer"),
                                counted(stages * repeats * per_stage, "layer"),
                                layers == 1 ? "1 is" : fmt::format("{} are", layers)),
                    stages * repeats * per_stage, layers};
}

Violation pipeline_layers_exist(const Configuration& c) {
  const bool dense_before = c.model.decoder_block.dense_layers_before_pipeline;
  const std::int64_t most = dense_before ? c.model.layers - c.model.first_dense_layers : c.model.layers;
  if (pipeline_stages(c.mesh) == 1 || c.config.pipeline_parallel_layers <= most) return std::nullopt;
  return Infeasible{
      ConstraintId::pipeline_layers,
      fmt::format("pipeline_parallel_layers={}, but {} has {}", c.config.pipeline_parallel_layers, c.model.name,
                  counted(most, dense_before ? "mixture-of-experts layer" : "layer")),
      c.config.pipeline_parallel_layers, most};
}

Violation pipeline_microbatches(const Configuration& c) {
  const std::int64_t stages = pipeline_stages(c.mesh), microbatches = c.config.num_pipeline_microbatches;
  if (stages == 1) return std::nullopt;
  if (microbatches % stages != 0)
    return Infeasible{ConstraintId::pipeline_microbatches,
                      fmt::format("{} are not a multiple of {}", counted(microbatches, "microbatch"),
                                  counted(stages, "stage")),
                      stages,
                      microbatches};
  if (c.config.pipeline_delay_activation_forwarding && microbatches < 2 * stages)
    return Infeasible{ConstraintId::pipeline_microbatches,
                      fmt::format("delayed forwarding over {} needs {}, not {}", counted(stages, "stage"),
                                  counted(2 * stages, "microbatch"), microbatches),
                      2 * stages, microbatches};
  return std::nullopt;
}

Violation pipeline_batch(const Configuration& c) {
  const std::int64_t batch = global_batch(c), microbatches = c.config.num_pipeline_microbatches;
  if (pipeline_stages(c.mesh) == 1 || batch % microbatches == 0) return std::nullopt;
  return Infeasible{ConstraintId::pipeline_batch,
                    fmt::format("{} can't be split into {}", counted(batch, "sequence"),
                                counted(microbatches, "microbatch")),
                    microbatches,
                    batch};
}

// MaxText configs/types.py: weight prefetching is for circular pipelines of single layers.
Violation pipeline_prefetch(const Configuration& c) {
  const auto& config = c.config;
  if (pipeline_stages(c.mesh) == 1 || !config.pipeline_fsdp_ag_per_repeat) return std::nullopt;
  if (config.num_pipeline_repeats <= 1)
    return Infeasible{ConstraintId::pipeline_prefetch, "pipeline_fsdp_ag_per_repeat needs at least 2 repeats, not 1", 2,
                      1};
  if (config.num_layers_per_pipeline_stage != 1)
    return Infeasible{
        ConstraintId::pipeline_prefetch,
        fmt::format("pipeline_fsdp_ag_per_repeat needs 1 layer a stage, not {}", config.num_layers_per_pipeline_stage),
        1, config.num_layers_per_pipeline_stage};
  if (config.pipeline_delay_activation_forwarding)
    return Infeasible{ConstraintId::pipeline_prefetch,
                      "pipeline_fsdp_ag_per_repeat excludes delayed activation forwarding", 0, 1};
  return std::nullopt;
}

}  // namespace

std::optional<Infeasible> pipeline_violation(const Configuration& configuration) {
  return first_violation_of({pipeline_layers_exist, pipeline_layers, pipeline_microbatches, pipeline_batch,
                             pipeline_prefetch, pipeline_layers_alike},
                            configuration);
}

std::optional<Infeasible> pipeline_policy_violation(const Configuration& c) {
  if (pipeline_stages(c.mesh) == 1) return std::nullopt;
  const TrainConfig& config = c.config;
  if (runs_in_pipelines({config.remat_policy, config.saved, config.places_activations})) return std::nullopt;
  return Infeasible{ConstraintId::pipeline_remat,
                    fmt::format("remat_policy={} moves activations to the host, which MaxText can't combine with what a "
                                "pipeline saves itself: use one that keeps or recomputes them, or remat_policy=custom",
                                config.remat_policy),
                    1, 0};
}

std::optional<Infeasible> layers_differ(const Model& model) {
  if (model.sublayers_per_layer > 1) return std::nullopt;
  const bool mixtures_and_others = model.moe_layers() > 0 && model.dense_layers() > 0;
  if (model.attention_pattern.window > 0) return mixed(model, "local and global attention alternate");
  if (!model.engram_layers.empty()) return mixed(model, "some layers have n-gram memory");
  if (model.cycle_interval > 1) return mixed(model, "layers repeat in cycles");
  if (mixtures_and_others && !model.decoder_block.dense_layers_before_pipeline)
    return mixed(model, "some layers have experts");
  return std::nullopt;
}

}  // namespace shardplan
