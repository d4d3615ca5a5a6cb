#include <fmt/format.h>

#include <algorithm>
#include <models/check_model.hpp>
#include <models/model_fields.hpp>
#include <models/programs/train_program.hpp>
#include <models/unread_fields.hpp>
#include <shardplan/error.hpp>

namespace shardplan {
namespace {

/// Defaults of settings, which train_arguments reads; and the length of a cycle, which check_model compares with the
/// windows that make it.
bool is_read_elsewhere(std::string_view key) {
  constexpr std::string_view keys[] = {"max_target_length", "scan_layers", "cycle_interval"};
  return std::find(std::begin(keys), std::end(keys), key) != std::end(keys);
}

/// The checks read what they would refuse the model without.
bool is_whole(const Model& model) {
  try {
    check_model(model, model.name);
    return true;
  } catch (const InputError&) {
    return false;
  }
}

Program program_of(const Model& model) { return reference_program(model, model.max_target_length); }

/// Asks of one field after the other whether the program is another one without it.
class Comparison {
 public:
  explicit Comparison(const Model& model) : model_(model), program_(program_of(model)) {}

  template <class Member>
  void ask(const char* key, Member Model::*member) {
    Model plain = model_;
    plain.*member = Model{}.*member;
    if (plain.*member == model_.*member || is_read_elsewhere(key) || !is_whole(plain)) return;
    if (program_of(plain) == program_) unread_.emplace_back(key);
  }

  /// Which functions they are makes no difference; how many there are does.
  void ask_activations() {
    Model plain = model_;
    plain.mlp_activations = {"silu", "linear"};
    const bool usual = model_.mlp_activations.size() == plain.mlp_activations.size();
    if (!usual && program_of(plain) == program_) unread_.emplace_back("mlp_activations");
  }

  std::vector<std::string> unread() && { return std::move(unread_); }

 private:
  const Model& model_;
  Program program_;
  std::vector<std::string> unread_;
};

}  // namespace

std::vector<std::string> unread_fields(const Model& model) {
  if (!model.not_modelled.empty()) return {};
  Comparison comparison(model);
  for (const auto& [key, member] : optional_model_dims) comparison.ask(key, member);
  for (const auto& [key, member] : model_counts) comparison.ask(key, member);
  for (const auto& [key, member] : model_lists) comparison.ask(key, member);
  for (const auto& [key, member] : model_flags) comparison.ask(key, member);
  comparison.ask_activations();
  return std::move(comparison).unread();
}

void check_fields_are_read(const Model& model, const std::string& place) {
  const auto unread = unread_fields(model);
  if (!unread.empty())
    throw InputError(fmt::format("{}: {}: the layers of decoder block '{}' don't have it", place, unread.front(),
                                 model.decoder_block.name));
}

}  // namespace shardplan
