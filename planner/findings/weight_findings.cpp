// Findings about weights: parameters that an axis leaves whole, and shards that move without need.
#include <fmt/format.h>

#include <planner/findings/axis_in_rule.hpp>
#include <planner/findings/finding_rules.hpp>
#include <planner/words/finding_words.hpp>
#include <planner/words/rule_words.hpp>

namespace shardplan {
namespace {

AxisList checked_axes(const Mesh& mesh) {
  AxisList axes;
  for (std::size_t i = 0; i < mesh.axes.size(); ++i)
    if (mesh.axes[i].size() > 1 && traits_of(mesh.axes[i].role).checked_at_start)
      axes.push_back(static_cast<AxisId>(i));
  return axes;
}

AxisList missing_from(const PartitionSpec& spec, const AxisList& axes) {
  AxisList missing;
  for (const AxisId axis : axes)
    if (place_of(axis, spec) < 0) missing.push_back(axis);
  return missing;
}

/// Elements of all trained parameters, of those that miss an axis, and the largest of the latter. Tables and biases that are
/// no nnx.Param (MaxText layers/moe.py: Tid2EidVar, MoEBiasVar) aren't among what its check counts.
struct Census {
  std::int64_t all = 0, unsharded = 0, largest = 0;
  const Block* block = nullptr;
  const Tensor* tensor = nullptr;
  AxisList missing;  ///< by the largest
};

Census count_parameters(const std::vector<PartitionedBlock>& blocks, const AxisList& axes) {
  Census census;
  for (const auto& block : blocks)
    for (std::size_t i = 0; i < block.specs().size(); ++i) {
      const Tensor& tensor = block.block->tensors[i];
      if (!is_trained(tensor)) continue;
      const std::int64_t elements = elements_of(tensor) * block.block->layers;
      const AxisList missing = missing_from(block.specs()[i], axes);
      census.all += elements;
      if (missing.empty()) continue;
      census.unsharded += elements;
      if (elements <= census.largest) continue;
      census.largest = elements;
      census.block = block.block;
      census.tensor = &tensor;
      census.missing = missing;
    }
  return census;
}

/// The rules of the tensor's dims, in priority order.
std::vector<Rule> rules_of(const Tensor& tensor, const RuleSet& rules) {
  const auto& names = tensor.constraint.axes;
  std::vector<Rule> found;
  for (const auto& rule : rules.rules)
    if (std::find(names.begin(), names.end(), LogicalName(std::string_view(rule.logical))) != names.end())
      found.push_back(rule);
  return found;
}

/// The embed dim's rule is where MaxText's sets put the axes that shard weights as fsdp does.
std::string rule_to_extend(const Tensor& tensor) {
  const auto& names = tensor.constraint.axes;
  for (std::size_t i = 0; i < std::min(names.size(), tensor.dims.size()); ++i)
    if (tensor.dims[i].dim == Dim::embed && !names[i].empty()) return std::string(names[i]);
  const auto named = std::find_if(names.begin(), names.end(), [](const auto& name) { return !name.empty(); });
  return std::string(named == names.end() ? "embed" : *named);
}

bool names_all(const Rule& rule, const std::vector<std::string>& axes) {
  return std::all_of(axes.begin(), axes.end(), [&](const std::string& axis) {
    return std::find(rule.axes.begin(), rule.axes.end(), axis) != rule.axes.end();
  });
}

/// A rule in front of the one that has the missing axes takes another of its axes, and with it all: JAX gives a rule all
/// that it names or nothing.
const Rule* rival_of(const Rule& rule, const std::vector<Rule>& of_tensor) {
  for (const Rule& other : of_tensor) {
    if (other == rule) return nullptr;
    const auto shares = [&](const std::string& axis) {
      return std::find(other.axes.begin(), other.axes.end(), axis) != other.axes.end();
    };
    if (other.logical != rule.logical && std::any_of(rule.axes.begin(), rule.axes.end(), shares)) return &other;
  }
  return nullptr;
}

/// The axes in the rule to extend, or in those of the tensor's other dims.
std::string ways_to_shard(const Tensor& tensor, const std::vector<std::string>& missing, const RuleSet& rules) {
  const std::string extended = rule_to_extend(tensor), otherwise = ", or choose a mesh without it";
  const std::vector<Rule> of_tensor = rules_of(tensor, rules);
  for (const Rule& rule : of_tensor)
    if (rule.logical == extended && names_all(rule, missing))
      if (const Rule* rival = rival_of(rule, of_tensor))
        return fmt::format("take out of rule {} what rule {} behind it names too, which otherwise gets none of its axes",
                           rival->logical, rule.logical) + otherwise;
  const int many = count_rules(rules, extended);
  std::string ways = many == 0   ? fmt::format("add {} to the rules", rule_in_yaml({extended, missing}))
                     : many == 1 ? fmt::format("add '{}' to rule {}", join_axes(missing), extended)
                                 : fmt::format("add '{}' to {} of {}", join_axes(missing),
                                               many == 2 ? "both rules" : "all rules", extended);
  for (const auto& name : tensor.constraint.axes) {
    const std::string logical(name);
    if (logical.empty() || logical == extended) continue;
    ways += fmt::format(", or to {}", count_rules(rules, logical) == 0 ? fmt::format("a rule of {} (there is none)", logical)
                                                                       : "rule " + logical);
  }
  return ways + otherwise;
}

bool is_permuted_shard(const Collective& c) {
  return c.cause == Cause::zero1_permuted_shards;
}

/// Of parameters too many of which lack an axis; nothing: MaxText starts. Its check compares elements with bytes, so
/// that float32 weights may leave 8% of the elements whole under the default sharding_tolerance.
std::optional<Census> too_many_unsharded(const std::vector<PartitionedBlock>& blocks, const Configuration& c) {
  const AxisList axes = checked_axes(c.mesh);
  if (axes.empty() || c.mesh.size_of(AxisRole::stage) > 1) return std::nullopt;  // MaxText skips pipelines
  const Census census = count_parameters(blocks, axes);
  const auto bytes = static_cast<double>(census.all * size_of(c.config.weight_dtype));
  if (static_cast<double>(census.unsharded) <= c.config.sharding_tolerance * bytes) return std::nullopt;
  return census;
}

}  // namespace

bool leaves_weights_unsharded(const std::vector<PartitionedBlock>& blocks, const Configuration& configuration) {
  return too_many_unsharded(blocks, configuration).has_value();
}

MaybeFinding weights_not_sharded(const FindingSubject& s) {
  const auto found = too_many_unsharded(s.blocks, s.configuration);
  if (!found) return std::nullopt;
  const Census& census = *found;
  const auto missing = names_of(census.missing, s.mesh());
  const std::string named = join_axes(missing);
  const Traffic gradients = traffic_of(s, [&](const Collective& c) {
    return c.kind == CollectiveKind::all_reduce && c.phase == Phase::backward && overlap(c.axes, census.missing) &&
           c.parameter;
  });
  Finding finding{
      FindingId::weights_not_sharded,
      Severity::error,
      fmt::format("{:.0f}% of the parameters lack an axis of the mesh, most of them '{}' (no '{}'): MaxText's check of "
                  "unsharded parameters (sharding_tolerance={}) refuses to start{}",
                  100 * static_cast<double>(census.unsharded) / static_cast<double>(census.all), census.tensor->name,
                  named, s.config().sharding_tolerance,
                  gradients.empty() ? "" : "; their gradients are all-reduced, " + in_words(gradients)),
      census.block->name + "/" + census.tensor->name,
      missing,
      ways_to_shard(*census.tensor, missing, s.rules()),
      rules_of(*census.tensor, s.rules())};
  finding.extent = gradients.seconds.value;
  return finding;
}

/// Stacked weights are stored stage-major and used repeat-major; pipeline_fsdp_ag_once makes the compiler move them.
MaybeFinding layer_stack_reshard(const FindingSubject& s) {
  const Traffic moved = traffic_of(s, is_of_layer_stack);
  if (moved.empty()) return std::nullopt;
  const PipelineShape& shape = s.program.program->pipeline;
  Finding finding{FindingId::layer_stack_reshard,
                  Severity::warning,
                  fmt::format("pipeline_fsdp_ag_once with {} repeats: layer weights are stored stage-major and used "
                              "repeat-major, so all of them, their gradients and moments move between stages, {}",
                              shape.repeats, in_words(moved)),
                  "pipeline_module/layers",
                  names_of({AxisRole::stage}),
                  fmt::format("num_layers_per_pipeline_stage={} (one repeat), or pipeline_fsdp_ag_once=False",
                              shape.layers_per_stage * shape.repeats)};
  finding.extent = moved.seconds.value;
  return finding;
}

/// ZeRO-1 saves less than its name says: beside their shards, whole weights stay on the device to the end of the step.
MaybeFinding whole_weights_beside_shards(const FindingSubject& s) {
  const TrainConfig& c = s.config();
  if (!c.shard_optimizer_over_data || s.mesh().size_of(AxisRole::data) == 1 || c.gradient_accumulation_steps > 1)
    return std::nullopt;
  const bool ahead = c.program == StepProgram::train_compile;
  if (!ahead && !c.runs_nnx()) return std::nullopt;
  const Bytes whole = s.evaluation.memory.parameters * (ahead ? 1 : s.mesh().size_of(AxisRole::data));
  Finding finding{
      FindingId::zero1_whole_weights,
      Severity::note,
      ahead
          ? fmt::format("train_compile's program takes the weights whole and copies them, {} twice; the "
                        "training loop keeps 1/{} between steps and gathers the rest",
                        in_words(whole), s.mesh().size_of(AxisRole::data))
          : fmt::format("the training loop gathers the {} weights at the start of the step and NNX keeps them for the "
                        "update: {} beside the optimizer's shards, and float32 on the network",
                        name_of(c.weight_dtype), in_words(whole)),
      "optimizer",
      names_of({AxisRole::data}),
      fmt::format("{}{} (Linen's training loop casts before it gathers and keeps no copy), or gradient_accumulation_steps "
                  "above 1",
                  ahead ? "--program train for what the training loop needs; " : "", linen_words),
      {}};
  finding.extent = static_cast<double>(whole.value);
  return finding;
}

MaybeFinding offloaded_parameters_come_back(const FindingSubject& s) {
  if (!s.config().parameter_memory_host_offload) return std::nullopt;
  return Finding{FindingId::offloaded_parameters_come_back,
                 Severity::warning,
                 fmt::format("parameter_memory_host_offload=true: MaxText brings all parameters, {}, from the host "
                             "before the forward pass and writes them back after the update, and a step needs as much "
                             "memory as without",
                             in_words(s.evaluation.memory.parameters)),
                 "params",
                 {},
                 "parameter_memory_host_offload=false"};
}

MaybeFinding optimizer_shards_permuted(const FindingSubject& s) {
  const Traffic moved = traffic_of(s, is_permuted_shard);
  if (moved.empty()) return std::nullopt;
  Finding finding{FindingId::optimizer_shards_permuted,
                  Severity::note,
                  fmt::format("shard_optimizer_over_data puts 'data' before the axes that already split a weight's dim: "
                              "shards change places, and an update that reads gathered weights gathers all whole, {}",
                              in_words(moved)),
                  "optimizer",
                  names_of({AxisRole::data}),
                  "one of data and fsdp only, gradient_accumulation_steps above 1, or shard_optimizer_over_data=False"};
  finding.extent = moved.seconds.value;
  return finding;
}

}  // namespace shardplan
