#include <fmt/format.h>

#include <arguments/words/argument_precedence.hpp>
#include <arguments/words/argument_values.hpp>
#include <arguments/keys/argument_table.hpp>
#include <arguments/settings/quantization_arguments.hpp>
#include <arguments/settings/remat_arguments.hpp>
#include <shardplan/step_size.hpp>
#include <arguments/settings/train_arguments.hpp>
#include <models/moe_paths.hpp>
#include <shardplan/error.hpp>
#include <shardplan/spelling.hpp>

namespace shardplan {
namespace {

std::string print(bool value) { return print_value(value); }
std::string print(double value) { return print_value(value); }
std::string print(std::int64_t value) { return fmt::to_string(value); }
std::string print(const Calibration& value) { return value.word; }
std::string print(const MixedPrecision& value) { return value.path; }
template <class Enum>
std::string print(Enum value) {
  return std::string(name_of(value));
}

std::string print(const SettingArgument& row, const TrainConfig& config) {
  return std::visit([&](auto field) { return std::string(print(config.*field)); }, row.field);
}

/// Out of line for each type: where the branches of one function store a value through pointers of different types, g++
/// 12.2 takes them for one store and loses it (gcc.gnu.org PR 107107; its gcc.dg/pr107107.c fails too).
template <class Value>
[[gnu::noinline]] void set_member(TrainConfig& config, Value TrainConfig::*field, const GivenArgument& given) {
  config.*field = std::get<Value>(given.value);
}

/// `config` with the argument's value in the member that the row names.
TrainConfig with_setting(TrainConfig config, const SettingArgument& row, const GivenArgument& given) {
  std::visit([&](auto field) { set_member(config, field, given); }, row.field);
  return config;
}

bool agree(const SettingArgument& row, const TrainConfig& a, const TrainConfig& b) {
  return std::visit([&](auto field) { return a.*field == b.*field; }, row.field);
}

TrainConfig read_members(const GivenArguments& arguments, const Model& model) {
  TrainConfig config = default_train_config(model);
  const TrainConfig base;
  for (const auto& row : setting_arguments()) {
    const auto* given = arguments.find(row.key);
    if (!given) continue;
    TrainConfig changed = with_setting(config, row, *given);
    const bool in_own_file = !model.in_maxtext && !agree(row, config, base);
    const bool in_file = in_own_file || is_set_in_model_file(model, row.key);
    const ModelsWord word{model.name, row.key, print(row, config), in_file, agree(row, changed, config),
                          agree(row, changed, base)};
    if (repeats_model_file(model, row.key, given->text) || overrides_model(*given, word, arguments))
      config = std::move(changed);
  }
  return config;
}

OptimizerType read_optimizer(const GivenArguments& arguments, const Model& model, OptimizerType otherwise) {
  const auto* given = arguments.find("opt_type");
  if (!given) return otherwise;
  const auto type = std::get<OptimizerType>(given->value);
  const OptimizerType base = TrainConfig{}.opt_type;
  const ModelsWord word{model.name,        "opt_type",   std::string(name_of(otherwise)), otherwise != base,
                        type == otherwise, type == base};
  return overrides_model(*given, word, arguments) ? type : otherwise;
}

DType read_mu_dtype(const GivenArguments& arguments, DType weight_dtype) {
  const auto* given = arguments.value<DType>("mu_dtype");
  return given ? *given : weight_dtype;
}

MoePath read_moe_path(const GivenArguments& arguments, const Model& model, double capacity_factor) {
  const bool sparse = arguments.flag("sparse_matmul", true), ring = arguments.flag("use_ring_of_experts", false);
  if (!model.has_experts()) return MoePath::none;
  const MoePath path = !sparse ? MoePath::dropping : ring ? MoePath::ring : usual_path(model);
  if (const auto refusal = path_refusal(model, path, capacity_factor)) throw InputError(*refusal);
  return path;
}

/// Beside another path, or where layers are rings whatever it says.
bool is_idle_ring(const GivenArguments& arguments, const Model& model, MoePath path) {
  return arguments.flag("use_ring_of_experts", false) && (path != MoePath::ring || usual_path(model) == MoePath::ring);
}

bool read_shard_mode(const GivenArguments& arguments, const TrainConfig& config) {
  return arguments.text("shard_mode", config.shard_mode_explicit ? "explicit" : "auto") == "explicit";
}

std::vector<SettingField> asked_fields(const GivenArguments& arguments) {
  std::vector<SettingField> asked;
  for (const auto& row : setting_arguments())
    if (arguments.find(row.key)) asked.push_back(row.field);
  if (arguments.find("mu_dtype")) asked.push_back(&TrainConfig::mu_dtype);
  return asked;
}

// Only whole trees of modules of one kind were compiled.
void check_modules(const TrainConfig& config) {
  if (config.enable_nnx == config.pure_nnx && config.pure_nnx == config.pure_nnx_decoder) return;
  throw InputError(fmt::format(
      "enable_nnx={}, pure_nnx={}, pure_nnx_decoder={}: shardplan models NNX (all true) and Linen (all false), no mix",
      config.enable_nnx, config.pure_nnx, config.pure_nnx_decoder));
}

/// Of a model whose layers are one anyway MaxText's own switch says nothing.
bool asks_for_ring(const TrainConfig& config, const TrainConfig& baseline) {
  return config.idle_ring_of_experts || (config.moe_path == MoePath::ring && baseline.moe_path != MoePath::ring);
}

std::string shard_mode(const TrainConfig& config) { return config.shard_mode_explicit ? "explicit" : "auto"; }

void add_special(std::vector<std::pair<std::string, std::string>>& printed, const TrainConfig& config,
                 const TrainConfig& baseline) {
  if (config.moe_path == MoePath::dropping) printed.emplace_back("sparse_matmul", "false");
  if (asks_for_ring(config, baseline)) printed.emplace_back("use_ring_of_experts", "true");
  if (config.shard_mode_explicit != baseline.shard_mode_explicit) printed.emplace_back("shard_mode", shard_mode(config));
  if (config.opt_type != baseline.opt_type) printed.emplace_back("opt_type", name_of(config.opt_type));
  if (config.mu_dtype != config.weight_dtype) printed.emplace_back("mu_dtype", name_of(config.mu_dtype));
}

bool is_read(Named named, const SettingReaders& readers) {
  switch (named) {
    case Named::always:
      return true;
    case Named::with_experts:
      return readers.experts;
    case Named::with_sparse_experts:
      return readers.sparse_experts;
    case Named::with_stages:
      return readers.stages;
    case Named::with_context:
      return readers.context;
    case Named::with_vocabulary_tiles:
      return readers.vocabulary_tiles;
    case Named::with_quantization:
      return readers.quantization;
    case Named::where_changed:
      return false;
  }
  throw InternalError("unknown Named");
}

bool has_first_moment(OptimizerType type) { return type != OptimizerType::sgd; }

void add_named_special(std::vector<std::pair<std::string, std::string>>& printed, const TrainConfig& config,
                       const TrainConfig& baseline, const SettingReaders& readers) {
  if (readers.experts) printed.emplace_back("sparse_matmul", print(config.moe_path != MoePath::dropping));
  if (readers.sparse_experts || config.idle_ring_of_experts)
    printed.emplace_back("use_ring_of_experts", print(asks_for_ring(config, baseline)));
  printed.emplace_back("shard_mode", shard_mode(config));
  printed.emplace_back("opt_type", name_of(config.opt_type));
  if (has_first_moment(config.opt_type)) printed.emplace_back("mu_dtype", name_of(config.mu_dtype));
}

// utils/maxtext_utils.py asserts the first; Linen modules bring weights to the device layer by layer, which nobody compiled.
void check_parameter_offload(const TrainConfig& config) {
  if (!config.parameter_memory_host_offload) return;
  if (config.param_scan_axis != 0)
    throw InputError(fmt::format("parameter_memory_host_offload=true: MaxText wants param_scan_axis=0, not {}",
                                 config.param_scan_axis));
  if (!config.enable_nnx)
    throw InputError("parameter_memory_host_offload=true: modelled with NNX modules, not with Linen's");
}

/// A step of none takes no time.
void check_tokens(const TrainConfig& config) {
  if (!(config.per_device_batch_size > 0))
    throw InputError(fmt::format("per_device_batch_size={:g}: must be above 0", config.per_device_batch_size));
  const double tokens = config.per_device_batch_size * static_cast<double>(config.max_target_length);
  if (static_cast<double>(config.num_vocab_tiling) > tokens)
    throw InputError(
        fmt::format("num_vocab_tiling={}: more than the {:g} tokens of a device", config.num_vocab_tiling, tokens));
}

/// Of experts' buffers: no routing hands a device more rows than all devices of its group have, and those are no more
/// than the experts; a capacity of experts over top_k holds every token already. And what they hold can be counted.
void check_expert_buffers(const TrainConfig& config, const Model& model) {
  if (!model.has_experts()) return;
  constexpr std::pair<const char*, double TrainConfig::*> factors[] = {
      {"capacity_factor", &TrainConfig::capacity_factor}, {"ragged_buffer_factor", &TrainConfig::ragged_buffer_factor}};
  const double experts = static_cast<double>(model.num_experts), length = static_cast<double>(config.max_target_length);
  for (const auto& [key, factor] : factors)
    if (config.*factor > experts)
      throw InputError(fmt::format("{}={:g}: more than {}, the number of experts, only pads their buffers", key,
                                   config.*factor, model.num_experts));
  if (config.moe_path != MoePath::dropping) return;
  constexpr double most_elements = 1e15;  // of an array on a device: bytes of all layers stay below 2^63
  const double choices = config.per_device_batch_size * length * static_cast<double>(model.top_k);
  const double mask = choices * length * config.capacity_factor;
  if (mask > most_elements)
    throw InputError(fmt::format("capacity_factor={:g} of max_target_length={}: masks of {:.1e} elements a device are more "
                                 "than shardplan can count",
                                 config.capacity_factor, config.max_target_length, mask));
}

}  // namespace

TrainConfig default_train_config(const Model& model) {
  TrainConfig config;
  config.max_target_length = model.max_target_length;
  config.capacity_factor = model.capacity_factor;
  config.scan_layers = model.scan_layers;
  if (model.opt_type) config.opt_type = parse_optimizer(*model.opt_type, model.name + ": opt_type");
  config.use_iota_embed = model.use_iota_embed.value_or(config.use_iota_embed);
  if (model.attention) config.attention = parse_attention(*model.attention, model.name + ": attention");
  config.saved = saved_by_policy(config.remat_policy);
  config.moe_path = usual_path(model);
  config.shard_mode_explicit = model.use_batch_split_schedule;  // such a model's own file says so
  return config;
}

Settings read_settings(const GivenArguments& arguments, const Model& model) {
  TrainConfig config = read_members(arguments, model);
  config.opt_type = read_optimizer(arguments, model, config.opt_type);
  config.mu_dtype = read_mu_dtype(arguments, config.weight_dtype);
  config.shard_mode_explicit = read_shard_mode(arguments, config);
  check_modules(config);
  check_quantization(config);
  check_parameter_offload(config);
  check_step_size(config);
  check_tokens(config);
  config.moe_path = read_moe_path(arguments, model, config.capacity_factor);
  check_expert_buffers(config, model);
  config.idle_ring_of_experts = is_idle_ring(arguments, model, config.moe_path);
  set_remat(config, read_remat(arguments, config));
  return {std::move(config), asked_fields(arguments)};
}

std::vector<std::pair<std::string, std::string>> config_as_arguments(const TrainConfig& config,
                                                                     const TrainConfig& baseline) {
  std::vector<std::pair<std::string, std::string>> printed;
  for (const auto& row : setting_arguments())
    if (print(row, config) != print(row, baseline)) printed.emplace_back(row.key, print(row, config));
  add_special(printed, config, baseline);
  for (auto& argument : remat_as_arguments({config.remat_policy, config.saved, config.places_activations}))
    printed.push_back(std::move(argument));
  return printed;
}

std::vector<std::pair<std::string, std::string>> named_as_arguments(const TrainConfig& config,
                                                                    const TrainConfig& baseline,
                                                                    const SettingReaders& readers) {
  std::vector<std::pair<std::string, std::string>> printed;
  for (const auto& row : setting_arguments())
    if (is_read(row.named, readers) || print(row, config) != print(row, baseline))
      printed.emplace_back(row.key, print(row, config));
  add_named_special(printed, config, baseline, readers);
  const auto remat = remat_as_arguments({config.remat_policy, config.saved, config.places_activations});
  if (remat.empty()) printed.emplace_back("remat_policy", config.remat_policy);
  printed.insert(printed.end(), remat.begin(), remat.end());
  return printed;
}

bool is_planned_for_model(const Model& model, const std::string& key) {
  const TrainConfig base, own = default_train_config(model);
  if (key == "opt_type") return own.opt_type != base.opt_type;
  if (key == "shard_mode") return own.shard_mode_explicit != base.shard_mode_explicit;
  for (const auto& row : setting_arguments())
    if (row.key == key) return print(row, own) != print(row, base);
  return false;
}

}  // namespace shardplan
