#pragma once
// What MaxText is told to run an evaluation that is shown.
#include <arguments/commands/run_commands.hpp>
#include <arguments/model_words/nearest_model.hpp>
#include <arguments/print_configuration.hpp>
#include <shardplan/evaluation.hpp>

namespace shardplan {

/// Ready to paste; none where the configuration was not kept.
inline PrintedArguments arguments_of(const Evaluation& evaluation) {
  return evaluation.configuration ? maxtext_arguments(*evaluation.configuration) : PrintedArguments{};
}

/// "default"; "default with logical_axis_rules" where the run has rules of its own beside the set's.
inline std::string rules_in_words(const Evaluation& evaluation) {
  for (const auto& [key, value] : arguments_of(evaluation))
    if (key == "logical_axis_rules") return evaluation.rules + " with " + key;
  return evaluation.rules;
}

/// Empty where the configuration was not kept, or MaxText doesn't run on the machine.
inline std::optional<RunCommands> commands_of(const Evaluation& evaluation) {
  return evaluation.configuration ? run_commands(*evaluation.configuration) : std::nullopt;
}

/// What should be known of the model.
inline std::vector<ModelNote> model_notes_of(const Evaluation& evaluation) {
  return evaluation.configuration ? notes_of(evaluation.configuration->model) : std::vector<ModelNote>{};
}

}  // namespace shardplan
