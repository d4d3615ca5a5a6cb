#pragma once
// How much a step's time hangs on what is not known: each assumption by itself at its best and at its worst.
//   published runs   the step × what measured steps on this machine were of predicted ones (HardwareProfile::step_error)
//   overlap          all collectives hide behind compute; or none does
//   a figure         of the profile, off by its basis' uncertainty (assumption.hpp), everything costed anew
#include <shardplan/configuration.hpp>
#include <shardplan/evaluation.hpp>
#include <vector>

namespace shardplan {

/// Those that move the step by a thousandth or more, the widest first. `now` is what `configuration` costs.
std::vector<AssumedStep> assumed_steps(const Configuration& configuration, const RunCost& now);

}  // namespace shardplan
