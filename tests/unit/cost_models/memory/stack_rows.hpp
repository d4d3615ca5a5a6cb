#pragma once
// Rows of tables about what waits outside of the loop over layers. toy_llama: a layer has 3 MLP weights of 2 Mi elements
// and 4 attention weights of 1 Mi: 10 Mi; 4 layers: 40 Mi. One sequence of 1024 tokens of width 1024: 2 MiB in bf16. The
// head is [1024, 4096]: 4 Mi.
#include "../memory_toys.hpp"

namespace shardplan {

using Change = std::function<void(TrainConfig&)>;

struct StackRow {
  std::string what, mesh;
  Compiler compiler;
  std::int64_t expected;
  Change change = [](TrainConfig&) {};
};

inline ToyMemory memory_of(const StackRow& row) {
  return ToyMemory({toy_llama(), with(toy_config(1, 1024), row.change), "default", row.mesh, row.compiler});
}

/// Two stages of one layer each, two repeats, four microbatches.
inline const Change circular = [](TrainConfig& c) { c.num_pipeline_microbatches = 4; };
inline const Change gathered_once = [](TrainConfig& c) { circular(c), c.pipeline_fsdp_ag_once = true; };
/// Both layers of a stage in one iteration.
inline const Change deep_stages = [](TrainConfig& c) { circular(c), c.num_layers_per_pipeline_stage = 2; };
inline Change two_each(const Change& change) {
  return [change](TrainConfig& c) { change(c), c.per_device_batch_size = 2; };
}
inline const Change unscanned = [](TrainConfig& c) { c.scan_layers = false; };

}  // namespace shardplan
