#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <arguments/settings/remat_arguments.hpp>
#include <arguments/settings/train_arguments.hpp>
#include <models/moe_paths.hpp>
#include <models/programs/train_program.hpp>
#include <planner/constraints/constraints.hpp>
#include <planner/evaluate/fastest_blocks.hpp>
#include <planner/findings/axis_in_rule.hpp>
#include <planner/findings/sparse_path.hpp>
#include <planner/fixes/remedies.hpp>
#include <rules/bind_program.hpp>
#include <rules/logical_axes.hpp>
#include <rules/resolve.hpp>
#include <set>
#include <shardplan/attention/kernel_limits.hpp>
#include <shardplan/error.hpp>
#include <string_view>

namespace shardplan {
namespace {

using Change = Configuration (*)(const Finding&, Configuration);

Configuration peeled_dispatch(const Finding&, Configuration c) {
  c.config.moe_dispatch_no_expert_sharding = true;
  return c;
}

Configuration sparse_path(const Finding&, Configuration c) { return on_sparse_path(std::move(c)); }

/// The first rule of that name with the axis; a last rule where there is none: whatever takes the axis now keeps it.
RuleSet with_axis_in(RuleSet set, const std::string& logical, const std::string& axis) {
  const auto first =
      std::find_if(set.rules.begin(), set.rules.end(), [&](const Rule& rule) { return rule.logical == logical; });
  if (first == set.rules.end())
    set.rules.push_back({logical, {axis}});
  else
    *first = with_axis(*first, axis, set.mesh_axes);
  return set;
}

/// Whether the rules of the dispatch leave an axis out, all of them.
bool leave_off_dispatch(const RuleSet& rules, const std::string& axis) {
  return std::none_of(std::begin(rules_of_dispatch), std::end(rules_of_dispatch),
                      [&](const char* logical) { return names_axis(rules, logical, axis); });
}

/// The rules of the dispatch with the experts' axes, and the flag that keeps its batch from taking them alone.
Configuration split_dispatch(const std::vector<std::string>& axes, Configuration c) {
  for (const char* logical : rules_of_dispatch)
    for (const std::string& axis : axes) c.rules = with_axis_in(std::move(c.rules), logical, axis);
  c.config.moe_dispatch_no_expert_sharding = true;
  return c;
}

/// The rules of experts, or of their dispatch, with the axes that they lack; else the sparse path.
Configuration exchanged_tokens(const Finding& finding, Configuration c) {
  if (!expert_axes(c.rules, c.mesh).empty()) {
    const auto left_off = [&](const std::string& axis) { return leave_off_dispatch(c.rules, axis); };
    if (std::all_of(finding.axes.begin(), finding.axes.end(), left_off)) return split_dispatch(finding.axes, std::move(c));
    return sparse_path(finding, std::move(c));
  }
  for (const char* logical : rules_of_experts)
    c.rules = with_axis_in(std::move(c.rules), logical, std::string(name_of(AxisRole::expert)));
  return c;
}

/// The dropping path with the usual capacity: another model is trained, one that leaves tokens out.
Configuration dropping_path(const Finding&, Configuration c) {
  c.config.moe_path = MoePath::dropping;
  c.config.megablox = false;
  c.config.capacity_factor = usual_capacity_factor;
  return c;
}

/// As few experts a device as the mesh allows: `expert` takes from `fsdp` what divides the experts.
Configuration experts_apart(const Finding&, Configuration c) {
  const auto expert = c.mesh.find(AxisRole::expert), fsdp = c.mesh.find(AxisRole::fsdp);
  if (!expert || !fsdp) return c;
  MeshAxis &experts = c.mesh.axes[*expert], &shards = c.mesh.axes[*fsdp];
  for (int factor = shards.ici; factor > 1; --factor)
    if (shards.ici % factor == 0 && c.model.num_experts % (experts.size() * factor) == 0) {
      experts.ici *= factor;
      shards.ici /= factor;
      break;
    }
  return c;
}

/// Rule `name` with the axes of rule `like` appended where it has them not; a new first rule where there is none.
RuleSet with_axes_of(RuleSet set, const std::string& name, const std::string& like) {
  const auto named = [&](const std::string& wanted) {
    return std::find_if(set.rules.begin(), set.rules.end(), [&](const Rule& rule) { return rule.logical == wanted; });
  };
  const auto source = named(like);
  if (source == set.rules.end()) return set;
  const std::vector<std::string> axes = source->axes;
  const auto target = named(name);
  if (target == set.rules.end()) {
    set.rules.insert(set.rules.begin(), {name, axes});
    return set;
  }
  for (const auto& axis : axes)
    if (std::find(target->axes.begin(), target->axes.end(), axis) == target->axes.end()) target->axes.push_back(axis);
  return set;
}

Configuration split_attention_input(const Finding&, Configuration c) {
  c.rules = with_axes_of(std::move(c.rules), "activation_input_length_attn", "activation_norm_length");
  return c;
}

Configuration balanced_runs(const Finding&, Configuration c) {
  c.config.context_parallel_load_balance = true;
  return c;
}

/// It has no way to split packed sequences over a context axis.
Configuration kernel_in_shard_map(const Finding&, Configuration c) {
  c.config.attention = c.compiler.kernels.attention;
  if (packing_violation(c)) c.config.packing = false;
  // As where the kernel is asked for; the command then says how many segments it counts.
  const bool counts = c.config.packing && c.config.max_segments_per_seq <= 0;
  if (counts) c.config.max_segments_per_seq = c.compiler.kernels.packed_segments;
  return c;
}

/// Of packed documents such a kernel gets no chunks; unpacked it gets a mask.
Configuration kernel_of_windows(const Finding& finding, Configuration c) {
  c = kernel_in_shard_map(finding, std::move(c));
  if (ignores_windows(c.model, c.compiler.kernels, c.config)) c.config.packing = false;
  return c;
}

Configuration capping_kernel(const Finding&, Configuration c) {
  c.config.attention = AttentionKernel::dot_product;
  return c;
}

/// On TPUs tokamax's kernel alone rings, and no packed sequences of latent attention.
Configuration keys_in_a_ring(const Finding&, Configuration c) {
  c.config.context_parallel_strategy = ContextStrategy::ring;
  if (!c.compiler.kernels.has_tokamax_splash) return c;
  c.config.attention = AttentionKernel::flash;
  c.config.use_tokamax_splash = true;
  c.config.packing = false;
  return c;
}

Configuration gathered_every_iteration(const Finding&, Configuration c) {
  c.config.pipeline_fsdp_ag_once = false;
  return c;
}

Configuration optimizer_like_weights(const Finding&, Configuration c) {
  c.config.shard_optimizer_over_data = false;
  return c;
}

Configuration parameters_on_device(const Finding&, Configuration c) {
  c.config.parameter_memory_host_offload = false;
  return c;
}

Configuration one_batch_rule(const Finding&, Configuration c) {
  for (const char* name : {"activation_batch_attn", "activation_kv_batch"})
    c.rules = with_axes_of(std::move(c.rules), name, "activation_batch");
  return c;
}

/// The logical axes of the embed dims of the model's weights.
std::set<std::string> embed_axes_of_weights(const Model& model) {
  std::set<std::string> found;
  for (const auto& block : reference_program(model, model.max_target_length).blocks)
    for (const auto& tensor : block.tensors) {
      if (!tensor.parameter) continue;
      for (std::size_t i = 0; i < std::min(tensor.dims.size(), tensor.constraint.axes.size()); ++i)
        if (tensor.dims[i].dim == Dim::embed) found.emplace(tensor.constraint.axes[i]);
    }
  return found;
}

/// The missing axes at the end of every rule for an embed dim of weights.
Configuration embed_over_missing_axes(const Finding& finding, Configuration c) {
  const auto embed = embed_axes_of_weights(c.model);
  for (auto& rule : c.rules.rules) {
    if (!embed.contains(rule.logical)) continue;
    for (const auto& axis : finding.axes)
      if (std::find(rule.axes.begin(), rule.axes.end(), axis) == rule.axes.end()) rule.axes.push_back(axis);
  }
  return c;
}

/// The misspelt rule under the nearest name that tensors have; as it is where none is near.
Configuration renamed_rule(const Finding& finding, Configuration c) {
  const auto nearest = nearest_names(finding.rules.front().logical, logical_axis_names(), 1);
  for (auto& rule : c.rules.rules)
    if (rule == finding.rules.front() && !nearest.empty()) rule.logical = nearest.front();
  return c;
}

/// The same for a mesh axis in a rule.
Configuration renamed_axis(const Finding& finding, Configuration c) {
  const auto nearest = nearest_names(finding.axes.front(), c.rules.mesh_axes, 1);
  for (auto& rule : c.rules.rules)
    if (rule == finding.rules.front() && !nearest.empty())
      std::replace(rule.axes.begin(), rule.axes.end(), finding.axes.front(), nearest.front());
  return c;
}

/// The finding's axis in its rule.
Configuration axis_in_rule(const Finding& finding, Configuration c) {
  c.rules = with_axis_in(std::move(c.rules), finding.rules.front().logical, finding.axes.front());
  return c;
}

/// The same in front of the rule that gives the axis to another dim, which would keep it.
Configuration axis_in_earlier_rule(const Finding& finding, Configuration c) {
  if (finding.rules.size() < 2) return axis_in_rule(finding, std::move(c));
  auto& rules = c.rules.rules;
  const auto holder = std::find(rules.begin(), rules.end(), finding.rules.back());
  const auto now = std::find(rules.begin(), holder, finding.rules.front());
  if (holder == rules.end() || now != holder) return axis_in_rule(finding, std::move(c));
  const Rule widened = with_axis(finding.rules.front(), finding.axes.front(), c.rules.mesh_axes);
  const auto late = std::find(holder, rules.end(), finding.rules.front());
  if (late != rules.end()) {
    std::rotate(holder, late, late + 1);
    *holder = widened;
  } else {
    rules.insert(holder, widened);
  }
  return c;
}

Configuration uncombined_weights(const Finding&, Configuration c) {
  for (const CompilerSetting threshold : combine_thresholds) c.compiler.settings.erase(threshold);
  return c;
}

/// The same policy place by place, and wi_1's output under the name that the sparse path gives it.
Configuration wi_1_saved(const Finding&, Configuration c) {
  c.config.saved.insert_or_assign("moe_mlpwi_1", c.config.saved.at("mlpwi_0"));
  c.config.remat_policy = "custom";
  c.config.places_activations = true;
  return c;
}

/// The fastest first; those that take longer than what the run has are none.
std::vector<Configuration> faster_blocks(const Configuration& c) {
  std::vector<Configuration> all;
  for (const SplashBlocks& blocks : fastest_splash_blocks(c)) {
    Configuration changed = c;
    changed.config = with_splash_blocks(c.config, blocks);
    if (changed.config == c.config) break;
    all.push_back(std::move(changed));
  }
  return all;
}

struct Remedy {
  FindingId id;
  Change change;
  std::string_view words = "";  ///< empty: the finding's own,
  std::string (*spell)(const TrainConfig& now, const TrainConfig& changed) = nullptr;  ///< or what this says of it
  std::vector<Configuration> (*several)(const Configuration&) = nullptr;  ///< in place of `change`
};

std::string joined(const std::vector<std::pair<std::string, std::string>>& arguments) {
  std::vector<std::string> words;
  for (const auto& [key, value] : arguments) words.push_back(fmt::format("{}={}", key, value));
  return fmt::format("{}", fmt::join(words, " "));
}

std::string remat_words(const TrainConfig&, const TrainConfig& config) {
  return joined(remat_as_arguments({config.remat_policy, config.saved, config.places_activations}));
}

std::string changed_words(const TrainConfig& now, const TrainConfig& changed) {
  return joined(config_as_arguments(changed, now));
}

/// What a change to attention is on the command line; not what follows from it (segments of a pack, on GPUs).
std::string attention_words(const TrainConfig& now, const TrainConfig& changed) {
  std::vector<std::string> words;
  if (changed.context_parallel_strategy != now.context_parallel_strategy)
    words.push_back(fmt::format("context_parallel_strategy={}", name_of(changed.context_parallel_strategy)));
  if (changed.attention != now.attention) words.push_back(fmt::format("attention={}", name_of(changed.attention)));
  if (changed.use_tokamax_splash != now.use_tokamax_splash) words.emplace_back("use_tokamax_splash=true");
  if (changed.packing != now.packing) words.emplace_back("packing=false");
  return fmt::format("{}", fmt::join(words, " "));
}

std::string dropping_words(const TrainConfig&, const TrainConfig&) { return dropping_path_words(); }

constexpr Remedy remedies[] = {
    {FindingId::expert_axis_stolen, peeled_dispatch},
    // Beside a second batch axis the flag alone leaves wo behind (expert-output-not-peeled).
    {FindingId::expert_axis_stolen, sparse_path, "", sparse_path_words},
    {FindingId::expert_output_not_peeled, sparse_path},
    {FindingId::missing_all_to_all, exchanged_tokens},
    {FindingId::all_tokens_routed, sparse_path, "sparse_matmul=true"},
    {FindingId::dense_ragged_dot, experts_apart, "a larger expert axis in place of fsdp"},
    {FindingId::dense_ragged_dot, dropping_path, "", dropping_words},
    {FindingId::collectives_take_most, peeled_dispatch, "moe_dispatch_no_expert_sharding=True"},
    {FindingId::collectives_take_most, sparse_path, "", sparse_path_words},
    {FindingId::collectives_take_most, dropping_path, "", dropping_words},
    {FindingId::expert_rows_returned_whole, dropping_path},
    {FindingId::minimal_recomputes_wi_1, wi_1_saved, "", remat_words},
    {FindingId::combined_weights_exposed, uncombined_weights},
    {FindingId::sequence_gathered_for_attention, split_attention_input},
    {FindingId::context_unbalanced, balanced_runs},
    {FindingId::attention_replicated, kernel_in_shard_map, "", attention_words},
    {FindingId::attention_ignores_windows, kernel_of_windows, "", attention_words},
    {FindingId::attention_ignores_cap, capping_kernel, "", attention_words},
    {FindingId::expanded_key_value_gathered, keys_in_a_ring, "", attention_words},
    {FindingId::attention_in_small_blocks, nullptr, "", changed_words, faster_blocks},
    {FindingId::layer_stack_reshard, gathered_every_iteration},
    {FindingId::optimizer_shards_permuted, optimizer_like_weights},
    {FindingId::offloaded_parameters_come_back, parameters_on_device},
    {FindingId::unexpected_all_gather, one_batch_rule},
    {FindingId::weights_not_sharded, embed_over_missing_axes},
    {FindingId::activations_replicated, axis_in_rule},
    {FindingId::activations_resharded, axis_in_earlier_rule},
    {FindingId::rule_name_unknown, renamed_rule},
    {FindingId::rule_axis_unknown, renamed_axis},
};

std::string words_of(const Remedy& remedy, const Finding& finding, const TrainConfig& now,
                     const TrainConfig& changed) {
  if (remedy.spell) return remedy.spell(now, changed);
  return remedy.words.empty() ? finding.fix : std::string(remedy.words);
}

/// MaxText's decoder for this model has the path that the experts then take.
bool has_path(const Configuration& c) {
  return !c.model.has_experts() || !path_refusal(c.model, c.config.moe_path, c.config.capacity_factor);
}

std::vector<Configuration> changed_by(const Remedy& remedy, const Finding& finding, const Configuration& configuration) {
  if (remedy.several) return remedy.several(configuration);
  return {remedy.change(finding, configuration)};
}

}  // namespace

std::vector<Fix> fixes_of(const Finding& finding, const Configuration& configuration) {
  std::vector<Fix> fixes;
  for (const Remedy& remedy : remedies) {
    const bool applies = remedy.id != FindingId::collectives_take_most || configuration.model.has_experts();
    if (finding.id != remedy.id || !applies) continue;
    for (Configuration& changed : changed_by(remedy, finding, configuration)) {
      if (!has_path(changed)) continue;
      std::string words = words_of(remedy, finding, configuration.config, changed.config);
      fixes.push_back({std::move(words), std::move(changed)});
    }
  }
  return fixes;
}

}  // namespace shardplan
