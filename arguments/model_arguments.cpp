#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <models/decoder_block.hpp>
#include <models/load_model.hpp>
#include <models/model_overrides.hpp>
#include <arguments/words/argument_precedence.hpp>
#include <arguments/keys/argument_table.hpp>
#include <arguments/keys/model_files.hpp>
#include <arguments/words/argument_values.hpp>
#include <arguments/model_arguments.hpp>
#include <shardplan/error.hpp>
#include <sstream>

namespace shardplan {
namespace {

bool sets(const ModelDimArgument& row, const Model& model) {
  if (is_of_base(model)) return false;
  return row.in_every_model || is_set_in_model_file(model, row.key) ||
         (has_dim(model, row.key) && row.of(model) != row.base_default);
}

/// The model's own value, or what MaxText's file of it says of a dim that its layers don't have.
bool repeats(const ModelDimArgument& row, const Model& model, const GivenArgument& given, std::int64_t value) {
  return value == row.of(model) || repeats_model_file(model, row.key, given.text);
}

/// Whether an argument of the dim makes another model, or none: not so of what no layer of it reads, nor of base.yml's
/// default, which holds anyway, of a dim that it doesn't have.
bool changes_model(const Model& model, const std::string& key, std::int64_t value) {
  if (has_dim(model, key)) return true;
  const auto rows = model_dim_arguments();
  const auto row = std::find_if(rows.begin(), rows.end(), [&](const ModelDimArgument& dim) { return dim.key == key; });
  const bool is_default = row != rows.end() && value == row->base_default && !is_set_in_model_file(model, key);
  return !is_default && !(value >= 0 && is_unread_dim(model, key));
}

std::vector<ModelOverride> read_overrides(const GivenArguments& arguments, const Model& model) {
  std::vector<ModelOverride> overrides;
  for (const auto& row : model_dim_arguments()) {
    const auto* given = arguments.find(row.key);
    if (!given) continue;
    const auto value = std::get<std::int64_t>(given->value);
    const bool repeats_base = value == row.base_default;
    const ModelsWord word{model.name, row.key, fmt::to_string(row.of(model)), sets(row, model),
                          repeats(row, model, *given, value), repeats_base};
    const bool overrides_it = !(given->in_file && repeats_base) && overrides_model(*given, word, arguments);
    if (overrides_it && changes_model(model, row.key, value)) overrides.emplace_back(row.key, value);
  }
  return overrides;
}

/// "silu,linear": a feed-forward with a gate. check_model knows which there are.
std::vector<std::string> parse_activations(const GivenArgument& given) {
  std::vector<std::string> activations;
  std::istringstream words(std::get<std::string>(given.value));
  for (std::string word; std::getline(words, word, ',');) activations.push_back(word);
  return activations;
}

/// Those of the model's feed-forward, unless arguments say others and win over its file.
std::vector<std::string> read_activations(const GivenArguments& arguments, const Model& model) {
  const auto rows = architecture_arguments();
  const auto row = std::find_if(rows.begin(), rows.end(), [](const auto& each) { return each.key == activations_key; });
  const auto* given = arguments.find(row->key);
  if (!given) return model.mlp_activations;
  const std::string own = row->of(model), &said = std::get<std::string>(given->value);
  const ModelsWord word{model.name, row->key, "[" + own + "]", !model.in_maxtext || is_set_in_model_file(model, row->key),
                        said == canonical(own), said == canonical(row->base_default)};
  return overrides_model(*given, word, arguments) ? parse_activations(*given) : model.mlp_activations;
}

/// What differs from the model's own file: a switch that arguments may change, or an error.
std::vector<ModelOverride> read_architecture(const GivenArguments& arguments, const Model& model) {
  std::vector<ModelOverride> changed;
  for (const auto& row : architecture_arguments()) {
    const auto* given = arguments.find(row.key);
    const std::string own = row.of(model);
    if (row.key == activations_key) continue;
    if (!given || std::get<std::string>(given->value) == canonical(own)) continue;
    if (given->in_file && std::get<std::string>(given->value) == canonical(row.base_default)) continue;
    if (!is_model_flag(row.key))
      throw InputError(fmt::format("{}: {} says {}; shardplan changes a model's layers only through a model file: give "
                                   "--model FILE, beside a command that was printed of it, too",
                                   given->place, model.name, own));
    const bool in_file = is_flag_of_model_files(row.key) && !is_of_base(model);
    if (overrides_model(*given, {model.name, row.key, own, in_file, false, false}, arguments))
      changed.emplace_back(row.key, parse_flag(given->text, given->place) ? 1 : 0);
  }
  return changed;
}

/// Experts are all that mixtral's layers have beside llama2's; its checks say what else has to be given with them.
void read_experts(const GivenArguments& arguments, Model& model) {
  const auto* experts = arguments.find("num_experts");
  if (!experts) throw InputError(fmt::format("model_name={} decoder_block=mixtral: give num_experts", model.name));
  model.num_experts = std::get<std::int64_t>(experts->value);
  model.top_k = 1;
  model.moe_mlp = model.mlp;
}

/// Of the blocks whose layers base.yml's defaults make.
void read_block(const GivenArgument& given, const GivenArguments& arguments, Model& model) {
  const DecoderBlock& block = find_decoder_block(std::get<std::string>(given.value), given.place);
  if (!block.made_by_base_defaults)
    throw InputError(fmt::format("{}: model_name={} is planned with llama2, mistral or mixtral; give a model of {}",
                                 given.place, model.name, block.name));
  if (block.feed_forward == FeedForward::experts) read_experts(arguments, model);
  model.decoder_block = block;
}

/// Of base.yml's own model, whose layers no file fixes.
void read_layers(const GivenArguments& arguments, Model& model) {
  if (!is_of_base(model)) return;
  if (const auto* given = arguments.find("decoder_block")) read_block(*given, arguments, model);
}

// configs/types.py, get_individual_scales: of three doublings two are the heads' and the MLP's, one is the width's, and the
// layers double behind the third.
struct Scales {
  std::int64_t heads = 1, mlp = 1, emb = 1, layers = 1;
};

Scales scales_of(std::int64_t scale, const std::string& place) {
  if (scale < 1 || !std::has_single_bit(static_cast<std::uint64_t>(scale)))
    throw InputError(fmt::format("{}: must be a power of two", place));
  const int doublings = std::countr_zero(static_cast<std::uint64_t>(scale)), cycles = doublings / 3, rest = doublings % 3;
  Scales scales;
  scales.heads = scales.mlp = std::int64_t{1} << (cycles + (rest > 0 ? 1 : 0));
  scales.emb = std::int64_t{1} << (cycles + (rest > 1 ? 1 : 0));
  scales.layers = std::int64_t{1} << cycles;
  return scales;
}

/// global_parameter_scale: the dims of `model` times its factors.
std::vector<ModelOverride> read_scale(const GivenArguments& arguments, const Model& model) {
  const auto* given = arguments.find("global_parameter_scale");
  if (!given) return {};
  const Scales scales = scales_of(std::get<std::int64_t>(given->value), given->place);
  const std::pair<std::string_view, std::int64_t> factors[] = {
      {"base_emb_dim", scales.emb},      {"base_num_query_heads", scales.heads}, {"base_num_kv_heads", scales.heads},
      {"base_mlp_dim", scales.mlp},      {"base_moe_mlp_dim", scales.mlp},       {"base_num_decoder_layers", scales.layers}};
  std::vector<ModelOverride> overrides;
  for (const auto& row : model_dim_arguments())
    for (const auto& [key, factor] : factors)
      if (row.key == key && factor > 1 && has_dim(model, row.key)) overrides.emplace_back(row.key, row.of(model) * factor);
  return overrides;
}

/// What is said of a value inside layers, where it holds: a YAML file yields to what the model's own file says, or whose
/// words the printed command has.
const GivenArgument* said_inside_layers(const GivenArguments& arguments, const Model& model, const std::string& key) {
  const auto* given = arguments.find(key);
  const bool has_own = !model.in_maxtext || is_set_in_model_file(model, key);
  return given && given->in_file && !is_of_base(model) && has_own ? nullptr : given;
}

/// Of a tied head: as the arguments say, else as the model's file does, or MaxText's where they tie the head of one of its
/// models.
bool scales_logits(const GivenArguments& arguments, const Model& model, bool was_tied) {
  if (const auto* given = said_inside_layers(arguments, model, "normalize_embedding_logits"))
    return parse_flag(given->text, given->place);
  const bool is_tied_here = model.tied_embedding && !was_tied;
  return is_tied_here && model.in_maxtext ? scales_logits_where_tied(model.name) : model.scales_logits;
}

/// Nothing is no cap, and neither is 0.
bool caps(const GivenArguments& arguments, const Model& model, const std::string& key, bool own) {
  const auto* given = said_inside_layers(arguments, model, key);
  if (!given) return own;
  return !canonical(given->text).empty() && parse_number(given->text, given->place) > 0;
}

/// rope_type. MaxText turns neighbouring features in what is called llama3.1, too, whatever the type
/// (layers/attentions.py, init_rotary_embedding): there no file says one.
void read_rotation(const GivenArguments& arguments, Model& model) {
  const std::string key = "rope_type";
  const auto* given = said_inside_layers(arguments, model, key);
  if (!given) return;
  const bool by_name = model.in_maxtext && model.interleaved_rotation && !is_set_in_model_file(model, key);
  const RopeType type = parse_rope_type(given->text, given->place);
  model.interleaved_rotation = by_name || type == RopeType::llama3_1;
  model.yarn_rotation = !by_name && type == RopeType::yarn && model.attention_type == AttentionType::mla;
}

/// Values inside layers that are further operations there.
Model with_values_inside_layers(Model model, const GivenArguments& arguments, bool was_tied) {
  model.scales_logits = scales_logits(arguments, model, was_tied);
  model.caps_scores = caps(arguments, model, "attn_logits_soft_cap", model.caps_scores);
  model.caps_logits = caps(arguments, model, "final_logits_soft_cap", model.caps_logits);
  read_rotation(arguments, model);
  return model;
}

}  // namespace

Model named_model(const std::string& name) {
  if (name.empty())
    throw InputError("which model? give model_name=NAME (model_name=default: the dims of base.yml, and what the "
                     "arguments change of them)");
  Model model = load_model(name);
  if (!model.not_modelled.empty())
    throw InputError(fmt::format("model_name={}: shardplan does not model {} yet", name, model.not_modelled));
  return model;
}

ChosenModel changed_model(Model model, const GivenArguments& arguments) {
  ChosenModel chosen{std::move(model), {}};
  read_layers(arguments, chosen.model);
  chosen.model.mlp_activations = read_activations(arguments, chosen.model);
  const bool was_tied = chosen.model.tied_embedding;
  chosen.overrides = read_overrides(arguments, chosen.model);
  for (auto& changed : read_architecture(arguments, chosen.model)) chosen.overrides.push_back(std::move(changed));
  chosen.model = with_overrides(std::move(chosen.model), chosen.overrides);
  chosen.model = with_values_inside_layers(std::move(chosen.model), arguments, was_tied);
  if (const auto scaled = read_scale(arguments, chosen.model); !scaled.empty()) {
    chosen.model = with_overrides(std::move(chosen.model), scaled);
    std::erase_if(chosen.overrides, [&](const ModelOverride& before) {
      return std::any_of(scaled.begin(), scaled.end(), [&](const auto& after) { return after.first == before.first; });
    });
    chosen.overrides.insert(chosen.overrides.end(), scaled.begin(), scaled.end());
  }
  return chosen;
}

}  // namespace shardplan
