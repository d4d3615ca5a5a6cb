#include <fmt/format.h>

#include <algorithm>
#include <arguments/words/argument_values.hpp>
#include <arguments/keys/argument_table.hpp>
#include <arguments/words/mixed_precision.hpp>
#include <arguments/words/parse_argument.hpp>
#include <array>
#include <cmath>
#include <shardplan/error.hpp>

namespace shardplan {
namespace {

constexpr std::string_view shard_mode_words[] = {"auto", "explicit"};
constexpr std::string_view precision_words[] = {"default", "high", "highest", "bfloat16", "float32"};
constexpr std::string_view reorder_words[] = {"auto", "dual_chunk_swap", "striped"};

// -1 is base.yml's "not set" wherever it is a default.
void check_bounds(double value, const SettingArgument& row, const std::string& place) {
  const bool not_set = value == -1 && canonical(row.base_default) == "-1";
  if (value < row.least && !not_set) throw InputError(fmt::format("{}: must be at least {}", place, row.least));
  if (value > row.most) throw InputError(fmt::format("{}: must be at most {}", place, row.most));
}

/// By the type of the member that a row names.
struct SettingParser {
  const SettingArgument& row;
  const std::string &text, &place;

  ArgumentValue operator()(bool TrainConfig::*) const { return parse_flag(text, place); }
  ArgumentValue operator()(DType TrainConfig::*) const { return parse_dtype(text, place); }
  ArgumentValue operator()(AttentionKernel TrainConfig::*) const { return parse_attention(text, place); }
  ArgumentValue operator()(ContextStrategy TrainConfig::*) const { return parse_context_strategy(text, place); }
  ArgumentValue operator()(CustomMesh TrainConfig::*) const { return parse_custom_mesh(text, place); }
  ArgumentValue operator()(Quantization TrainConfig::*) const { return parse_quantization(text, place); }
  ArgumentValue operator()(Calibration TrainConfig::*) const { return parse_calibration(text, place); }
  ArgumentValue operator()(MixedPrecision TrainConfig::*) const { return read_mixed_precision(text, place); }
  ArgumentValue operator()(std::int64_t TrainConfig::*) const {
    const std::int64_t value = parse_integer(text, place);
    check_bounds(static_cast<double>(value), row, place);
    return value;
  }
  ArgumentValue operator()(double TrainConfig::*) const {
    const double value = parse_number(text, place);
    check_bounds(value, row, place);
    return value;
  }
};

ArgumentValue parse_setting(const std::string& key, const std::string& text, const std::string& place) {
  const auto rows = setting_arguments();
  const auto row = std::find_if(rows.begin(), rows.end(), [&](const auto& entry) { return entry.key == key; });
  return std::visit(SettingParser{*row, text, place}, row->field);
}

ArgumentValue parse_mu_dtype(const std::string& text, const std::string& place) {
  if (canonical(text).empty()) return std::string();  // not set: weight_dtype
  return parse_dtype(text, place);
}

ArgumentValue parse_special(const std::string& key, const std::string& text, const std::string& place) {
  constexpr std::array<std::string_view, 6> flags = {"override_model_config", "sparse_matmul",  "use_ring_of_experts",
                                                     "float32_qk_product",    "float32_logits", "activations_in_float32"};
  constexpr std::array<std::string_view, 3> counts = {"compile_topology_num_slices", "num_slices",
                                                      "global_parameter_scale"};
  if (std::find(flags.begin(), flags.end(), key) != flags.end()) return parse_flag(text, place);
  if (std::find(counts.begin(), counts.end(), key) != counts.end()) return parse_integer(text, place);
  if (key == "context_parallel_reorder_strategy") return parse_word(text, reorder_words, place);
  if (key == "matmul_precision") return parse_word(text, precision_words, place);
  if (key == "opt_type") return parse_optimizer(text, place);
  if (key == "mu_dtype") return parse_mu_dtype(text, place);
  if (key == "shard_mode") return parse_word(text, shard_mode_words, place);
  return text;
}

void check_number(const IgnoredValues& values, const std::string& text, const std::string& place) {
  const double value = parse_number(text, place);  // YAML's 1e6 is a whole number, too
  if (values.kind == ValueKind::integer && value != std::floor(value))
    throw InputError(fmt::format("{}: expected a whole number, not '{}'", place, text));
  if (value >= values.least && value <= values.most) return;
  if (std::isinf(values.most)) throw InputError(fmt::format("{}: must be at least {}", place, values.least));
  throw InputError(fmt::format("{}: must be from {} to {}", place, values.least, values.most));
}

/// What a setting costs may not depend on a value, and yet no run start with it.
void check_ignored(const std::string& key, const std::string& text, const std::string& place) {
  const IgnoredValues* values = ignored_values_of(key);
  if (!values || (values->may_be_unset && canonical(text).empty())) return;
  switch (values->kind) {
    case ValueKind::flag:
      parse_flag(text, place);
      return;
    case ValueKind::integer:
    case ValueKind::number:
      return check_number(*values, text, place);
    case ValueKind::word:
      parse_word(text, std::vector<std::string_view>(values->words.begin(), values->words.end()), place);
      return;
  }
  throw InternalError("unknown ValueKind");
}

/// True, 1 and yes are one value.
std::string parse_architecture(const std::string& key, const std::string& text, const std::string& place) {
  const auto rows = architecture_arguments();
  const auto row = std::find_if(rows.begin(), rows.end(), [&](const auto& entry) { return entry.key == key; });
  const bool is_flag = row->base_default == print_value(true) || row->base_default == print_value(false);
  return is_flag ? print_value(parse_flag(text, place)) : canonical(text);
}

}  // namespace

ArgumentValue parse_argument(const std::string& key, const std::string& text, const std::string& place) {
  switch (role_of(key)) {
    case ArgumentRole::setting:
      return parse_setting(key, text, place);
    case ArgumentRole::special:
      return parse_special(key, text, place);
    case ArgumentRole::model_dim:
    case ArgumentRole::axis:
      return parse_integer(text, place);
    case ArgumentRole::remat:
      return parse_save_place(text, place);
    case ArgumentRole::architecture:
      return parse_architecture(key, text, place);
    case ArgumentRole::ignored:
      check_ignored(key, text, place);
      return text;
    case ArgumentRole::unmodelled:
      return text;
  }
  throw InternalError("unknown ArgumentRole");
}

}  // namespace shardplan
