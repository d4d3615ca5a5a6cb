#include <fmt/format.h>

#include <arguments/argument_precedence.hpp>
#include <arguments/argument_values.hpp>
#include <arguments/keys/argument_table.hpp>
#include <arguments/remat_arguments.hpp>
#include <arguments/step_size.hpp>
#include <arguments/train_arguments.hpp>
#include <shardplan/error.hpp>

namespace shardplan {
namespace {

constexpr std::string_view optimizer_words[] = {"adamw", "adam_pax", "sgd", "muon"};
constexpr std::string_view shard_mode_words[] = {"auto", "explicit"};

OptimizerType parse_optimizer(const std::string& text, const std::string& place) {
  constexpr OptimizerType types[] = {OptimizerType::adamw, OptimizerType::adam_pax, OptimizerType::sgd,
                                     OptimizerType::muon};
  const std::string word = parse_word(text, optimizer_words, place);
  for (const auto type : types)
    if (name_of(type) == word) return type;
  throw InternalError("an optimizer word without a type");
}

std::string print(bool value) { return print_value(value); }
std::string print(double value) { return print_value(value); }
std::string print(std::int64_t value) { return fmt::to_string(value); }
std::string print(DType value) { return std::string(name_of(value)); }
const std::string& print(const std::string& value) { return value; }

std::string print(const SettingArgument& row, const TrainConfig& config) {
  return std::visit([&](auto field) { return std::string(print(config.*field)); }, row.field);
}

// -1 is base.yml's "not set" wherever it is a default.
void check_least(double value, const SettingArgument& row, const std::string& place) {
  const bool not_set = value == -1 && print(row, TrainConfig{}) == "-1";
  if (value < row.least && !not_set) throw InputError(fmt::format("{}: must be at least {}", place, row.least));
}

// Reads one value into the member that a row names, by the member's type.
struct SettingReader {
  const SettingArgument& row;
  const GivenArgument& given;
  TrainConfig config;

  void operator()(bool TrainConfig::*field) { config.*field = parse_flag(given.value, given.place); }
  void operator()(DType TrainConfig::*field) { config.*field = parse_dtype(given.value, given.place); }
  void operator()(std::string TrainConfig::*field) {
    const std::vector<std::string_view> words(row.words.begin(), row.words.end());
    config.*field = parse_word(given.value, words, given.place);
  }
  void operator()(std::int64_t TrainConfig::*field) {
    config.*field = parse_integer(given.value, given.place);
    check_least(static_cast<double>(config.*field), row, given.place);
  }
  void operator()(double TrainConfig::*field) {
    config.*field = parse_number(given.value, given.place);
    check_least(config.*field, row, given.place);
  }
};

ModelsWord models_word(const Model& model, std::string key, std::string value, std::string base_default) {
  const bool in_file = value != base_default;
  return {model.name, std::move(key), std::move(value), std::move(base_default), in_file};
}

TrainConfig read_settings(const GivenArguments& arguments, const Model& model) {
  TrainConfig config = default_train_config(model);
  const TrainConfig base;
  for (const auto& row : setting_arguments()) {
    const std::string key(row.key);
    const auto* given = arguments.find(key);
    if (!given) continue;
    SettingReader reader{row, *given, config};
    std::visit(reader, row.field);
    const auto word = models_word(model, key, print(row, config), print(row, base));
    if (overrides_model(*given, word, arguments)) config = reader.config;
  }
  return config;
}

OptimizerType read_optimizer(const GivenArguments& arguments, const Model& model, OptimizerType otherwise) {
  const auto* given = arguments.find("opt_type");
  if (!given) return otherwise;
  const OptimizerType type = parse_optimizer(given->value, given->place);
  const auto word = models_word(model, "opt_type", std::string(name_of(otherwise)), "adamw");
  return overrides_model(*given, word, arguments) ? type : otherwise;
}

DType read_mu_dtype(const GivenArguments& arguments, DType weight_dtype) {
  const auto* given = arguments.find("mu_dtype");
  if (!given || canonical(given->value).empty()) return weight_dtype;
  return parse_dtype(given->value, given->place);
}

bool read_shard_mode_explicit(const GivenArguments& arguments) {
  const auto* given = arguments.find("shard_mode");
  return given && parse_word(given->value, shard_mode_words, given->place) == "explicit";
}

// MaxText configs/types.py, the checks of num_experts > 1 and of the llama4 decoder.
void check_capacity(const Model& model, bool sparse_matmul, double capacity_factor) {
  if (model.decoder_block.capacity == CapacityChoice::never && capacity_factor >= 0)
    throw InputError(fmt::format("capacity_factor={}: MaxText's {} decoder takes only -1", capacity_factor,
                                 model.decoder_block.name));
  if (model.decoder_block.capacity == CapacityChoice::with_sparse_matmul && !sparse_matmul && capacity_factor != -1)
    throw InputError(
        fmt::format("capacity_factor={}: with sparse_matmul=false MaxText's {} decoder takes only -1, "
                    "which computes every expert for every token and is not modelled; set "
                    "sparse_matmul=true",
                    capacity_factor, model.decoder_block.name));
  if (!sparse_matmul && capacity_factor <= 0)
    throw InputError(
        fmt::format("sparse_matmul=false with capacity_factor={} computes every expert for every token, "
                    "which shardplan does not model; set capacity_factor=1.25, say, or sparse_matmul=true",
                    capacity_factor));
}

// Only whole trees of modules of one kind were compiled.
void check_modules(const TrainConfig& config) {
  if (config.enable_nnx == config.pure_nnx && config.pure_nnx == config.pure_nnx_decoder) return;
  throw InputError(fmt::format(
      "enable_nnx={}, pure_nnx={}, pure_nnx_decoder={}: shardplan models NNX (all true) and Linen (all false), no mix",
      config.enable_nnx, config.pure_nnx, config.pure_nnx_decoder));
}

void add_special(std::vector<std::pair<std::string, std::string>>& printed, const TrainConfig& config,
                 const TrainConfig& baseline) {
  if (config.moe_path == MoePath::dropping) printed.emplace_back("sparse_matmul", "false");
  if (config.moe_path == MoePath::ring) printed.emplace_back("use_ring_of_experts", "true");
  if (config.shard_mode_explicit) printed.emplace_back("shard_mode", "explicit");
  if (config.opt_type != baseline.opt_type) printed.emplace_back("opt_type", name_of(config.opt_type));
  if (config.mu_dtype != config.weight_dtype) printed.emplace_back("mu_dtype", name_of(config.mu_dtype));
}

}  // namespace

TrainConfig default_train_config(const Model& model) {
  TrainConfig config;
  config.max_target_length = model.max_target_length;
  config.capacity_factor = model.capacity_factor;
  config.scan_layers = model.scan_layers;
  if (model.opt_type) config.opt_type = parse_optimizer(*model.opt_type, model.name + ": opt_type");
  config.use_iota_embed = model.use_iota_embed.value_or(config.use_iota_embed);
  config.saved = saved_by_policy(config.remat_policy);
  config.moe_path = model.has_experts() ? MoePath::ragged : MoePath::none;
  return config;
}

TrainConfig read_train_config(const GivenArguments& arguments, const Model& model) {
  TrainConfig config = read_settings(arguments, model);
  config.opt_type = read_optimizer(arguments, model, config.opt_type);
  config.mu_dtype = read_mu_dtype(arguments, config.weight_dtype);
  config.shard_mode_explicit = read_shard_mode_explicit(arguments);
  check_modules(config);
  check_step_size(config);
  config.moe_path = moe_path_of(model, arguments.flag("sparse_matmul", true),
                                arguments.flag("use_ring_of_experts", false), config.capacity_factor);
  const Remat remat = read_remat(arguments);
  config.remat_policy = remat.policy;
  config.saved = remat.saved;
  return config;
}

TrainConfig with_kernels(TrainConfig config, const Kernels& kernels, const GivenArguments& arguments) {
  if (!arguments.find("attention")) config.attention = kernels.attention;
  if (!arguments.find("megablox")) config.megablox = kernels.grouped_matmul == GroupedMatmul::megablox;
  return config;
}

MoePath moe_path_of(const Model& model, bool sparse_matmul, bool use_ring_of_experts, double capacity_factor) {
  if (!model.has_experts()) return MoePath::none;
  check_capacity(model, sparse_matmul, capacity_factor);
  if (!sparse_matmul) return MoePath::dropping;
  return use_ring_of_experts ? MoePath::ring : MoePath::ragged;
}

std::vector<std::pair<std::string, std::string>> config_as_arguments(const TrainConfig& config,
                                                                     const TrainConfig& baseline) {
  std::vector<std::pair<std::string, std::string>> printed;
  for (const auto& row : setting_arguments())
    if (print(row, config) != print(row, baseline)) printed.emplace_back(row.key, print(row, config));
  add_special(printed, config, baseline);
  for (auto& argument : remat_as_arguments({config.remat_policy, config.saved})) printed.push_back(std::move(argument));
  return printed;
}

bool model_sets_setting(const Model& model, const std::string& key) {
  const TrainConfig base, own = default_train_config(model);
  if (key == "opt_type") return own.opt_type != base.opt_type;
  for (const auto& row : setting_arguments())
    if (row.key == key) return print(row, own) != print(row, base);
  return false;
}

}  // namespace shardplan
