#include <algorithm>
#include <arguments/keys/model_files.hpp>
#include <arguments/mesh_arguments.hpp>
#include <arguments/model_words/nearest_model.hpp>
#include <arguments/print_configuration.hpp>
#include <models/model_overrides.hpp>
#include <shardplan/batch_split.hpp>
#include <arguments/rule_arguments.hpp>
#include <arguments/settings/train_arguments.hpp>
#include <arguments/words/argument_precedence.hpp>
#include <arguments/words/config_file.hpp>
#include <rules/load_rules.hpp>
#include <rules/resolve.hpp>

namespace shardplan {
namespace {

/// base.yml says tpu.
std::string hardware_word(const Launch& launch) { return launch.hardware == MaxtextHardware::gpu ? "gpu" : "tpu"; }

PrintedArguments printed_machine(const Configuration& configuration) {
  if (configuration.hardware.launch.compile_topology) return topology_arguments(configuration);
  if (configuration.hardware.launch.hardware != MaxtextHardware::gpu) return {};
  return {{"hardware", hardware_word(configuration.hardware.launch)}};
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
  if (!configuration.model.has_experts()) baseline.megablox = configuration.config.megablox;  // nothing reads it
  return baseline;
}

/// Whether an argument contradicts MaxText's file of the model that it is told.
bool needs_override(const Configuration& configuration, const PrintedArguments& printed, const ModelWords& words) {
  const auto contradicts = [&](const auto& argument) {
    return contradicts_model_file(words.name, argument.first, argument.second);
  };
  const PassedArguments& passed = configuration.passed_arguments;
  if (configuration.rule_changes.in_place_of_models) return true;
  if (!is_published(configuration.rules) && configuration.model.rules != ModelRules{}) return true;
  const bool changes = !words.overrides.empty() || !configuration.model_overrides.empty();
  return !configuration.model.in_maxtext || (changes && !is_of_base(configuration.model)) ||
         std::any_of(printed.begin(), printed.end(), contradicts) || std::any_of(passed.begin(), passed.end(), contradicts);
}

// layers/attention_op.py, cudnn_flash_attention: it looks config.context_sharding up in the mesh, split or not.
bool looks_for_sequence_axis(AttentionKernel kernel) { return kernel == AttentionKernel::cudnn_flash_te; }

void append(PrintedArguments& printed, const PrintedArguments& more) {
  printed.insert(printed.end(), more.begin(), more.end());
}

/// As MaxText starts it.
TrainConfig printed_config(TrainConfig config) {
  if (config.quantizes_in_linen()) config.enable_nnx = config.pure_nnx = config.pure_nnx_decoder = false;
  return config;
}

PrintedArguments changed_settings(const Configuration& configuration) {
  return config_as_arguments(printed_config(configuration.config), printing_baseline(configuration));
}

SettingReaders readers_of(const Configuration& c) {
  return {c.model.has_experts(), c.config.runs_sparse_experts(), pipeline_stages(c.mesh) > 1,
          c.mesh.product(axes_of_rule(c.rules, c.mesh, "activation_length")) > 1, c.config.num_vocab_tiling > 1,
          c.config.quantization != Quantization::none};
}

PrintedArguments named_settings(const Configuration& configuration) {
  return named_as_arguments(printed_config(configuration.config), printing_baseline(configuration),
                            readers_of(configuration));
}

/// What differs from what MaxText would take: the same as from what is planned of the model where nobody says anything, but
/// for what its own file says otherwise (envy-test: sparse_matmul), or not (gemma4's small ones: scan_layers).
PrintedArguments settings_unlike_maxtexts(const Configuration& configuration) {
  PrintedArguments settings = changed_settings(configuration);
  const std::string name = words_for(configuration.model).name;
  for (const auto& [key, value] : named_settings(configuration)) {
    const bool is_unsaid = is_planned_for_model(configuration.model, key) && !value_in_model_file(name, key);
    if (find_argument(settings, key)) continue;
    if (is_unsaid || contradicts_model_file(name, key, value)) settings.emplace_back(key, value);
  }
  return settings;
}

bool needs_narrow_tiles(const Configuration& c) { return needs_narrow_tiles(c.config, c.compiler.kernels, c.model); }

PrintedArguments all_arguments(const Configuration& configuration, const PrintedArguments& machine,
                               const PrintedArguments& rules, const PrintedArguments& settings) {
  const ModelWords words = words_for(configuration.model);
  PrintedArguments printed = {{"model_name", words.name}};
  append(printed, machine);
  append(printed, rules);
  append(printed, mesh_as_arguments(configuration.mesh, configuration.num_slices));
  append(printed, settings);
  if (needs_narrow_tiles(configuration) && configuration.config.sa_block_q_dkv == TrainConfig{}.sa_block_q_dkv)
    printed.emplace_back("sa_block_q_dkv", std::to_string(narrow_tile));
  if (configuration.model.use_indexer) printed.emplace_back("indexer_sparse_training", "true");
  if (configuration.model.use_batch_split_schedule && configuration.model.in_maxtext)
    printed.emplace_back("batch_split_factor", std::to_string(batch_split_factor));
  if (!configuration.model.engram_layers.empty())  // configs/types.py: the hashes are of what its tokens say
    append(printed, {{"tokenizer_path", readers_value("TOKENIZER_PATH")}, {"hf_access_token", readers_value("HF_TOKEN")}});
  append(printed, words.overrides);
  if (configuration.model.in_maxtext && !is_of_base(configuration.model))  // of base.yml's the words say them
    for (const auto& changed : configuration.model_overrides)
      printed.emplace_back(changed.first, override_text(changed));
  if (needs_override(configuration, printed, words)) printed.emplace_back("override_model_config", "true");
  for (const auto& passed : configuration.passed_arguments)
    if (!find_argument(printed, passed.first)) printed.push_back(passed);
  return printed;
}

}  // namespace

const std::string* find_argument(const PrintedArguments& arguments, std::string_view key) {
  const auto found = std::find_if(arguments.begin(), arguments.end(), [&](const auto& one) { return one.first == key; });
  return found == arguments.end() ? nullptr : &found->second;
}

PrintedArguments topology_arguments(const Configuration& configuration) {
  if (!configuration.hardware.launch.compile_topology) return {};
  return {{"compile_topology", configuration.slice.name},
          {"compile_topology_num_slices", std::to_string(configuration.num_slices)}};
}

PrintedArguments maxtext_arguments(const Configuration& configuration) {
  return all_arguments(configuration, printed_machine(configuration),
                       rules_as_arguments(configuration.rules, configuration.rule_changes),
                       settings_unlike_maxtexts(configuration));
}

PrintedArguments run_arguments(const Configuration& configuration) {
  const PrintedArguments machine = {{"hardware", hardware_word(configuration.hardware.launch)}};
  const PrintedArguments rules = rules_to_run(configuration.rules, configuration.rule_changes,
                                              looks_for_sequence_axis(configuration.config.attention));
  return all_arguments(configuration, machine, rules, named_settings(configuration));
}

RunFile run_file(const Configuration& configuration) {
  const PrintedArguments all = run_arguments(configuration);
  const bool overrides = find_argument(all, "override_model_config");
  const bool has_rules = is_published(configuration.rules) && find_argument(all, "logical_axis_rules");
  if (!overrides && !has_rules) return {all, {}};
  const auto is_word = [&](const std::string& key) {
    if (key == "model_name" || key == "override_model_config") return true;
    if (has_rules && (key == "logical_axis_rules" || key == "override_logical_axis_rules")) return true;
    return overrides && is_in_model_files(key);
  };
  RunFile run{{{"model_name", std::string(model_of_command_line)}}, {}};
  for (const auto& argument : all) (is_word(argument.first) ? run.words : run.file).push_back(argument);
  return run;
}

}  // namespace shardplan
