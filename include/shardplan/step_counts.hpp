#pragma once
// Counts that a step's settings leave to be worked out: sequences, and how a pipeline is cut.
#include <cstdint>
#include <shardplan/model.hpp>
#include <shardplan/train_config.hpp>

namespace shardplan {

/// N · per_device_batch_size; within 1e-6 of a whole number, that number: 0.29 · 100 is 29, not 28.999999999999996.
double sequences_in_a_pass(const TrainConfig& config, std::int64_t devices);

/// B: the sequences of one forward pass over all devices, int(N · per_device_batch_size) (SHARDING.md section 0).
std::int64_t global_batch(const TrainConfig& config, std::int64_t devices);

/// Iterations from a stage's output to the next one's input: 2 where activations are forwarded late, to overlap.
std::int64_t forwarding_delay(const TrainConfig& config);

/// `config` with the pipeline counts that were left at -1 filled in (SHARDING.md section 2.6). The repeats stay at -1
/// where the layers don't divide; first_violation says so.
TrainConfig with_pipeline_counts(TrainConfig config, const Model& model, std::int64_t stages);

}  // namespace shardplan
