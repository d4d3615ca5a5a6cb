#pragma once
// Which batches a mesh can train with.
#include <optional>
#include <planner/search/space/search_space.hpp>
#include <vector>

namespace shardplan {

/// The sequences of one forward pass have to be a multiple of this: the devices that the rules split the batch over, in
/// every microbatch of a pipeline and in every part of a batch that layers split.
std::int64_t batch_unit(const Model& model, const RuleSet& rules, const Mesh& mesh, const TrainConfig& config);

/// Its part that no schedule changes.
struct BatchShards {
  std::int64_t layers = 1;  ///< that rules split the batch of layers into
  std::int64_t logits = 1;
};
BatchShards batch_shards(const RuleSet& rules, const Mesh& mesh);
std::int64_t batch_unit(const Model& model, const BatchShards& shards, const Mesh& mesh, const TrainConfig& config);

/// The number of smallest batches that is tried after this one: 1, 2, 3, 4, 6, 8, 12, …
std::int64_t next_units(std::int64_t units);

/// The batch per device that MaxText turns back into exactly `sequences` (it truncates), if a double can say it.
std::optional<double> per_device_batch(std::int64_t sequences, std::int64_t devices);

/// Smallest first. A batch per device that the request fixes is the only one; global_batch_tokens is split into every
/// number of accumulation steps that leaves multiples of the unit (or, when none does, into the settings' own, so that
/// the constraint it breaks can be reported); otherwise 1, 2, 3, 4, 6, 8, 12, … units, up to SearchSpace::max_batch_tokens,
/// in `accumulation` passes.
std::vector<BatchOption> batch_options(const SearchSpace& space, const Mesh& mesh, std::int64_t unit,
                                       std::int64_t accumulation);

}  // namespace shardplan
