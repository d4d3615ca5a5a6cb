#include <fmt/format.h>

#include <arguments/keys/argument_table.hpp>
#include <arguments/words/argument_values.hpp>
#include <arguments/settings/remat_arguments.hpp>
#include <shardplan/error.hpp>

namespace shardplan {
namespace {

const std::string& usual_policy() {
  static const std::string policy = TrainConfig{}.remat_policy;
  return policy;
}

std::map<std::string, SavePlace> read_custom(const GivenArguments& arguments) {
  std::map<std::string, SavePlace> saved;
  for (const auto& row : remat_arguments()) {
    const auto* given = arguments.value<SavePlace>(row.key);
    const SavePlace place = given ? *given : parse_save_place(row.base_default, row.key);
    if (place != SavePlace::recompute) saved[row.key] = place;
  }
  return saved;
}

/// layers/nnx_decoders.py: layers that no scan holds are called as they are under `none`; Transformer Engine's products name
/// their narrow operands `quantization` (layers/quantizations.py).
void check_modelled(const std::string& policy, const std::string& place, const TrainConfig& config) {
  if (policy == "none" && !config.scan_layers)
    throw InputError(fmt::format("{}: layers without a scan of which nothing is computed again are not modelled: set "
                                 "scan_layers=true, with which none is MaxText's full, or minimal_with_context",
                                 place));
  const bool keeps_narrow = policy == "minimal_with_quantization" || policy == "minimal_with_context_and_quantization";
  if (keeps_narrow && runs_transformer_engine(config.quantization))
    throw InputError(fmt::format("{}: what it keeps of Transformer Engine's products is not modelled: set {}", place,
                                 policy == "minimal_with_quantization" ? "minimal" : "minimal_with_context"));
}

}  // namespace

RematPolicy custom_remat_policy(const GivenArguments& arguments) { return {"custom", read_custom(arguments), true}; }

RematPolicy read_remat(const GivenArguments& arguments, const TrainConfig& config) {
  const auto* given = arguments.find("remat_policy");
  const std::string policy = arguments.text("remat_policy", usual_policy());
  if (policy == "custom") return {policy, read_custom(arguments), true};
  if (given && given->in_file && !is_remat_policy(policy))
    throw InputError(fmt::format("{}: {}", given->place, unknown_name("policy", policy, all_remat_policies())));
  if (given) check_modelled(policy, given->place, config);
  return {policy, saved_by_policy(policy), false};
}

std::vector<std::string> ignored_places(const GivenArguments& arguments, const TrainConfig& config) {
  std::vector<std::string> words;
  if (config.places_activations) return words;
  for (const auto& row : remat_arguments())
    if (const auto* given = arguments.find(row.key); given && !given->in_file) words.push_back(given->place);
  return words;
}

std::vector<std::pair<std::string, std::string>> remat_as_arguments(const RematPolicy& remat) {
  if (remat.name == usual_policy()) return {};
  std::vector<std::pair<std::string, std::string>> printed = {{"remat_policy", remat.name}};
  if (!remat.places_activations) return printed;
  for (const auto& row : remat_arguments()) {
    const auto found = remat.saved.find(row.key);
    const auto place = print_value(found == remat.saved.end() ? SavePlace::recompute : found->second);
    if (place != row.base_default) printed.emplace_back(row.key, place);
  }
  return printed;
}

}  // namespace shardplan
