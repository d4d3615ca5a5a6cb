#pragma once
// One configuration in the words of Megatron-LM, as far as it has any. Source: NVIDIA/Megatron-LM at d98e8a64d (2026-08-22),
// megatron/training/arguments.py, megatron/core/model_parallel_config.py and transformer/transformer_config.py.
#include <shardplan/configuration.hpp>
#include <string>
#include <vector>

namespace shardplan {

struct MegatronFlag {
  std::string name;                 ///< "--tensor-model-parallel-size"
  std::vector<std::string> values;  ///< "8"; none of a switch
};

/// What of the configuration Megatron-LM has no flag for, and what is said in its place.
struct Untranslated {
  std::string what;  ///< "remat_policy=minimal"
  std::string why;
};

/// What CUDA_DEVICE_MAX_CONNECTIONS has to be, or Megatron-LM stops at an assertion (validate_args).
enum class DeviceConnections {
  any,
  one,          ///< tensor or context parallelism without FSDP (from Blackwell on nothing asks for it)
  more_or_unset,  ///< FSDP
};

/// Nodes and processes are those of a machine of nodes: GPUs.
struct MegatronRun {
  std::int64_t nodes = 1, processes_per_node = 1;
  DeviceConnections connections = DeviceConnections::any;
  std::vector<MegatronFlag> flags;
  std::vector<Untranslated> untranslated;
  std::vector<Untranslated> unknown;  ///< flags that exist, whose values are not known here
};

MegatronRun megatron_run(const Configuration& configuration);

}  // namespace shardplan
