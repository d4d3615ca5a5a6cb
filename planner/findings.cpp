#include <algorithm>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <planner/findings.hpp>

namespace shardplan {
namespace {

struct Subject {
  const Configuration& configuration;
  const BoundProgram& program;
  const std::vector<PartitionedBlock>& blocks;
  const Evaluation& evaluation;
};

/// Bytes a step and seconds of the collectives that `matches`.
struct Cost {
  double gigabytes = 0, milliseconds = 0;
};

template <class Matches>
Cost cost_of(const Subject& s, Matches matches) {
  Cost cost;
  for (const auto& c : s.evaluation.collectives) {
    if (!matches(c)) continue;
    cost.gigabytes += static_cast<double>(c.bytes.value * c.executions) / 1e9;
    cost.milliseconds += c.seconds.value * 1e3;
  }
  return cost;
}

bool ends_with_any(const std::string& op, std::initializer_list<const char*> endings) {
  return std::any_of(endings.begin(), endings.end(), [&](const char* ending) { return op.ends_with(ending); });
}

bool over_expert_axes(const Collective& c, const Subject& s) {
  return std::any_of(c.axes.begin(), c.axes.end(), [&](AxisId axis) { return contains(s.program.expert_axes, axis); });
}

std::string expert_axis_names(const Subject& s) {
  std::vector<std::string> names;
  for (const AxisId axis : s.program.expert_axes) names.push_back(s.configuration.mesh.axes[axis].name);
  return fmt::format("{}", fmt::join(names, "+"));
}

bool reduces_or_gathers(const Collective& c) {
  return c.kind == CollectiveKind::all_gather || c.kind == CollectiveKind::reduce_scatter || c.kind == CollectiveKind::all_reduce;
}

/// Dropping path: the batch dim of the dispatch takes the expert axis, so expert weights are gathered over it.
std::optional<Finding> expert_axis_stolen(const Subject& s) {
  if (s.configuration.config.moe_path != MoePath::dropping || s.program.expert_axes.empty()) return std::nullopt;
  const Cost weights = cost_of(s, [&](const Collective& c) {
    return over_expert_axes(c, s) && reduces_or_gathers(c) && ends_with_any(c.op, {"MoeBlock_0/wi_0", "MoeBlock_0/wi_1"});
  });
  if (weights.gigabytes == 0) return std::nullopt;
  return Finding{"expert-axis-stolen", Severity::error,
                 fmt::format("expert double-mapping: rule activation_batch_moe gives '{0}' to the batch dim of the dispatch before activation_exp can, "
                             "so every expert's weights are gathered over '{0}' instead of tokens being exchanged: {1:.1f} GB and {2:.1f} ms a step",
                             expert_axis_names(s), weights.gigabytes, weights.milliseconds),
                 "MoeBlock_0/wi_0, wi_1, wo", expert_axis_names(s), "moe_dispatch_no_expert_sharding=True"};
}

/// The dispatch is peeled, the output of wo isn't: beside a second batch axis wo falls back to being gathered.
std::optional<Finding> expert_output_not_peeled(const Subject& s) {
  if (s.configuration.config.moe_path != MoePath::dropping || !s.configuration.config.moe_dispatch_no_expert_sharding) return std::nullopt;
  const Cost weights = cost_of(s, [&](const Collective& c) {
    return c.kind == CollectiveKind::all_gather && over_expert_axes(c, s) && c.op.ends_with("MoeBlock_0/wo");
  });
  if (weights.gigabytes == 0) return std::nullopt;
  return Finding{"expert-output-not-peeled", Severity::warning,
                 fmt::format("the dispatch keeps experts on '{}', but the constraint on wo's output puts that axis back on the batch: wo is gathered over it, {:.1f} GB a step",
                             expert_axis_names(s), weights.gigabytes),
                 "MoeBlock_0/wo", expert_axis_names(s), "use the expert axis as the only batch axis, or sparse_matmul=True"};
}

std::optional<Finding> worst_case_rows(const Subject& s) {
  for (const auto& block : s.blocks) {
    if (!block.block->mixture || block.block->row_occupancy >= 0.999) continue;
    const double factor = 1 / block.block->row_occupancy;
    const bool dense = s.configuration.hardware.habits.ragged_dot_is_dense && !s.configuration.config.megablox;
    return Finding{"worst-case-rows", dense ? Severity::warning : Severity::note,
                   fmt::format("expert buffers hold the worst case of routing, {:.1f} times the rows of balanced routing; memory{} grows with them", factor,
                               dense ? " and compute" : ""),
                   "MoeBlock_0", expert_axis_names(s), "ragged_buffer_factor (drops tokens beyond it)"};
  }
  return std::nullopt;
}

/// No custom set has a rule for activation_input_length_attn: GQA inputs lose their split of the sequence.
std::optional<Finding> sequence_gathered(const Subject& s) {
  const Cost gathered = cost_of(s, [&](const Collective& c) {
    return c.kind == CollectiveKind::all_gather && c.why.find("'attention input'") != std::string::npos && c.op.find("self_attention") != std::string::npos;
  });
  const bool has_rule = std::any_of(s.configuration.rules.rules.begin(), s.configuration.rules.rules.end(),
                                    [](const Rule& rule) { return rule.logical == "activation_input_length_attn"; });
  if (has_rule || gathered.gigabytes == 0) return std::nullopt;
  return Finding{"sequence-gathered-for-attention", Severity::warning,
                 fmt::format("rule set '{}' has no rule for activation_input_length_attn: attention inputs are gathered along the sequence, {:.1f} GB a step",
                             s.configuration.rules.name, gathered.gigabytes),
                 "self_attention", "", "add ['activation_input_length_attn', [the axes of activation_length]] to the rules"};
}

std::optional<Finding> attention_replicated(const Subject& s) {
  const auto& attention = s.configuration.config.attention;
  if (s.configuration.hardware.habits.attention_in_shard_map || (attention != "flash" && attention != "autoselected")) return std::nullopt;
  const Cost gathered = cost_of(s, [](const Collective& c) { return c.op.ends_with("attention_op"); });
  if (gathered.gigabytes == 0) return std::nullopt;
  return Finding{"attention-replicated", Severity::error,
                 fmt::format("attention={} runs outside shard_map on {}: q, k and v are gathered whole and attention is computed on every device, {:.1f} GB and {:.1f} ms a step",
                             attention, s.configuration.hardware.habits.compiler, gathered.gigabytes, gathered.milliseconds),
                 "self_attention/attention_op", "", "attention=cudnn_flash_te"};
}

std::optional<Finding> layer_stack_reshard(const Subject& s) {
  const PipelineShape& shape = s.program.program->pipeline;
  if (shape.stages == 1 || shape.repeats == 1) return std::nullopt;
  return Finding{"layer-stack-reshard", Severity::warning,
                 fmt::format("{} repeats: layer weights are stored stage-major and used repeat-major, so the compiler may move them between stages at the start and end of each step",
                             shape.repeats),
                 "pipeline_module/layers", "stage", fmt::format("num_layers_per_pipeline_stage={} (one repeat)", shape.layers_per_stage * shape.repeats)};
}

std::vector<Finding> ignored_axes(const Subject& s) {
  std::vector<Finding> findings;
  for (const auto& axis : s.configuration.ignored_axes)
    findings.push_back({"axis-ignored", Severity::warning,
                        fmt::format("rule set '{}' has no mesh axis '{}': MaxText ignores the flag silently", s.configuration.rules.name, axis),
                        s.configuration.rules.name, axis, fmt::format("leave it out, or choose a rule set with '{}'", axis)});
  return findings;
}

std::optional<Finding> misfit(const Subject& s) {
  if (!s.evaluation.infeasible || s.evaluation.infeasible->constraint != "mesh-does-not-fit-torus") return std::nullopt;
  return Finding{"mesh-does-not-fit-torus", Severity::error, s.evaluation.infeasible->message, describe(s.configuration.mesh), "", "allow_split_physical_axes=True"};
}

}  // namespace

std::vector<Finding> findings_of(const Configuration& configuration, const BoundProgram& program,
                                 const std::vector<PartitionedBlock>& blocks, const Evaluation& evaluation) {
  const Subject subject{configuration, program, blocks, evaluation};
  std::vector<Finding> findings;
  for (auto* rule : {expert_axis_stolen, expert_output_not_peeled, worst_case_rows, sequence_gathered, attention_replicated, layer_stack_reshard, misfit})
    if (auto finding = rule(subject)) findings.push_back(std::move(*finding));
  for (auto& finding : ignored_axes(subject)) findings.push_back(std::move(finding));
  return findings;
}

}  // namespace shardplan
