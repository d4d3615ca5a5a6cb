#pragma once
// Which values of MaxText's `quantization` a training run may have: the others are refused, by value and with the reason.
#include <shardplan/train_config.hpp>

namespace shardplan {

/// Throws InputError on a value that MaxText does not start with, that would leave the run as it is, or that is not
/// modelled.
void check_quantization(const TrainConfig& config);

}  // namespace shardplan
