#include <fmt/format.h>

#include <algorithm>
#include <arguments/keys/argument_table.hpp>
#include <arguments/keys/model_files.hpp>
#include <arguments/model_words/nearest_model.hpp>
#include <arguments/words/argument_precedence.hpp>
#include <cmath>
#include <models/decoder_block.hpp>
#include <models/load_model.hpp>
#include <models/model_fields.hpp>
#include <models/model_overrides.hpp>
#include <optional>
#include <shardplan/error.hpp>
#include <tuple>

namespace shardplan {
namespace {

using Words = std::vector<std::pair<std::string, std::string>>;

Words differences(const Model& nearest, const Model& model) {
  Words words;
  for (const auto& row : model_dim_arguments())
    if (row.of(nearest) != row.of(model)) words.emplace_back(row.key, fmt::to_string(row.of(model)));
  for (const auto& row : architecture_arguments())
    if (row.of(nearest) != row.of(model))
      words.emplace_back(row.key, row.key == activations_key ? "[" + row.of(model) + "]" : row.of(model));
  if (model.tied_embedding && model.scales_logits != scales_logits_where_tied(nearest.name))
    words.emplace_back("normalize_embedding_logits", model.scales_logits ? "true" : "false");
  words.insert(words.end(), model.inner_values.begin(), model.inner_values.end());
  return words;
}

/// Fields of a model file that MaxText knows by a value, which a model file doesn't have.
struct FieldOfValue {
  std::string_view field;
  std::string key;
};
const FieldOfValue fields_of_values[] = {{"caps_scores", "attn_logits_soft_cap"},
                                         {"caps_logits", "final_logits_soft_cap"},
                                         {"interleaved_rotation", "rope_type"},
                                         {"yarn_rotation", "rope_type"}};

const FieldOfValue* value_of_field(std::string_view field) {
  const auto found = std::find_if(std::begin(fields_of_values), std::end(fields_of_values),
                                  [&](const FieldOfValue& row) { return row.field == field; });
  return found == std::end(fields_of_values) ? nullptr : found;
}

/// Defaults of settings, which every command says.
bool is_of_settings(std::string_view field) { return field == "max_target_length" || field == "scan_layers"; }

/// Fields of a model file that its words leave as the nearest model has them: MaxText's code has them for some model names,
/// or for a block. Which they are is asked of the words themselves: without the difference they are the same.
class UnsaidFields {
 public:
  UnsaidFields(const Model& nearest, const Model& model)
      : nearest_(nearest), model_(model), words_(differences(nearest, model)) {
    ask(optional_model_dims);
    ask(model_counts);
    ask(model_lists);
    ask(model_flags);
    Model with_locals = model;
    with_locals.attention_pattern.locals_per_period = nearest.attention_pattern.locals_per_period;
    if (with_locals != model) ask("local_layers_per_global", with_locals);
  }

  std::vector<std::string_view> list() && { return std::move(fields_); }

 private:
  template <class Fields>
  void ask(const Fields& fields) {
    for (const auto& [key, member] : fields) {
      if (nearest_.*member == model_.*member) continue;
      Model as_nearest = model_;
      as_nearest.*member = nearest_.*member;
      ask(key, as_nearest);
    }
  }

  void ask(std::string_view field, const Model& as_nearest) {
    const FieldOfValue* value = value_of_field(field);
    const bool has_value = value && std::any_of(model_.inner_values.begin(), model_.inner_values.end(),
                                                [&](const auto& inner) { return inner.first == value->key; });
    if (!has_value && !is_of_settings(field) && differences(nearest_, as_nearest) == words_) fields_.push_back(field);
  }

  const Model& nearest_;
  const Model& model_;
  const Words words_;
  std::vector<std::string_view> fields_;
};

/// How far one model is from another; the first member decides.
struct Distance {
  std::size_t unsaid = 0;  ///< differences that no argument says
  int layers = 0;   ///< properties of the layers that differ
  int dims = 0;     ///< dims that differ
  double size = 0;  ///< sum of the logarithms of their ratios
  auto tied() const { return std::tie(unsaid, layers, dims, size); }
};

Distance distance(const Model& from, const Model& to) {
  Distance between;
  between.unsaid = UnsaidFields(from, to).list().size();
  for (const auto& row : architecture_arguments()) between.layers += row.of(from) != row.of(to);
  between.layers += from.interleaved_rotation != to.interleaved_rotation;  // by name (layers/attentions.py: "llama3.1")
  for (const auto& row : model_dim_arguments()) {
    const auto a = static_cast<double>(std::max<std::int64_t>(row.of(from), 1));
    const auto b = static_cast<double>(std::max<std::int64_t>(row.of(to), 1));
    between.dims += row.of(from) != row.of(to);
    between.size += std::abs(std::log(a / b));
  }
  return between;
}

const std::vector<Model>& models_of_maxtext() {
  static const std::vector<Model> all = [] {
    std::vector<Model> models;
    for (const std::string& name : model_names())
      if (Model model = load_model(name); model.in_maxtext && !is_of_base(model)) models.push_back(std::move(model));
    return models;
  }();
  return all;
}

bool is_same_kind(const Model& candidate, const Model& model) {
  if (!candidate.run_arguments.empty() || !candidate.not_modelled.empty()) return false;
  return candidate.decoder_block == model.decoder_block && candidate.rules == model.rules &&
         candidate.attention_type == model.attention_type;
}

const Model& nearest_to(const Model& model) {
  const Model* nearest = nullptr;
  Distance least;
  for (const Model& candidate : models_of_maxtext()) {
    if (!is_same_kind(candidate, model)) continue;
    const Distance between = distance(candidate, model);
    if (!nearest || between.tied() < least.tied()) nearest = &candidate, least = between;
  }
  if (nearest) return *nearest;
  throw InputError(fmt::format("{}: MaxText has no model of decoder block '{}' with {} attention and these rules",
                               model.name, model.decoder_block.name, name_of(model.attention_type)));
}

std::string why_unsaid(std::string_view field, const Model& nearest) {
  if (const FieldOfValue* value = value_of_field(field))
    return fmt::format("{}'s own holds, unless {}=… is given beside it", nearest.name, value->key);
  return fmt::format("no argument of MaxText says it: {}'s own holds", nearest.name);
}

std::vector<ModelNote> without_argument(const Model& nearest, const Model& model) {
  std::vector<ModelNote> notes;
  for (const std::string_view field : UnsaidFields(nearest, model).list())
    notes.push_back({std::string(field), why_unsaid(field, nearest)});
  return notes;
}

}  // namespace

ModelWords words_for(const Model& model) {
  if (is_of_base(model)) return {model.name, differences(load_model(model.name), model), {}};
  if (model.in_maxtext) return {model.name, model.run_arguments, {}};
  const Model& nearest = nearest_to(model);
  return {nearest.name, differences(nearest, model), without_argument(nearest, model)};
}

std::vector<ModelNote> notes_of(const Model& model) {
  std::vector<ModelNote> notes = model.left_out;
  if (model.memory_error_high > 0)
    notes.push_back({"memory", fmt::format("may need up to {:.1f} times what is expected beside parameters and optimizer: "
                                           "{}",
                                           1 + model.memory_error_high, model.memory_error_source)});
  if (model.in_maxtext) return notes;
  for (const std::string_view field : parts_that_no_layer_has(model))
    notes.push_back({std::string(field),
                     fmt::format("MaxText's layers of decoder block '{}' don't have it: what is costed has it, a run goes "
                                 "without",
                                 model.decoder_block.name)});
  if (!model.unknown_to_maxtext.empty()) notes.push_back({"model_name", model.unknown_to_maxtext});
  const ModelWords words = words_for(model);
  notes.insert(notes.end(), words.unsaid.begin(), words.unsaid.end());
  notes.push_back({"model_name", fmt::format("MaxText is told {}, the nearest of the models that it has; what is not among "
                                             "the arguments (other values inside layers, the tokenizer) stays as it is "
                                             "there",
                                             words.name)});
  return notes;
}

}  // namespace shardplan
