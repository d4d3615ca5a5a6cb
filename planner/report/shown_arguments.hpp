#pragma once
// The MaxText arguments of an evaluation that is shown.
#include <arguments/print_configuration.hpp>
#include <shardplan/evaluation.hpp>

namespace shardplan {

/// Ready to paste; none where the configuration was not kept.
inline PrintedArguments arguments_of(const Evaluation& evaluation) {
  return evaluation.configuration ? maxtext_arguments(*evaluation.configuration) : PrintedArguments{};
}

}  // namespace shardplan
