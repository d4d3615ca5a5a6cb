#pragma once
// What the axes of a mesh do, as the groups that other frameworks speak of. Read off the sharding rules, so that an axis
// called expert that splits the heads outside the experts (rule set ep-tp) is tensor parallelism there.
#include <shardplan/configuration.hpp>
#include <string>
#include <vector>

namespace shardplan {

struct ParallelGroups {
  std::int64_t data = 1;      ///< shards of the batch in attention
  std::int64_t context = 1;   ///< of the sequence in attention
  std::int64_t tensor = 1;    ///< of the heads
  std::int64_t pipeline = 1;  ///< stages
  std::int64_t expert = 1;         ///< of the experts
  std::int64_t expert_tensor = 1;  ///< of an expert's hidden dim, over axes that split no batch
  std::int64_t weight_shards = 1;  ///< of a dense weight over the axes of data and context: 1 is plain data parallelism
  bool sequence_parallel = false;  ///< between products the sequence is split over the axes of tensor
  std::vector<std::string> unused;     ///< axes above 1 that split nothing in attention: Megatron-LM has no such replicas
  std::vector<std::string> elsewhere;  ///< axes that split another dim between layers than in attention
};

ParallelGroups parallel_groups(const Configuration& configuration);

}  // namespace shardplan
