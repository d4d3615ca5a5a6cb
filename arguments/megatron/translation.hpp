#pragma once
// What the parts of a translation add to: flags, and what has none.
#include <arguments/megatron/megatron_run.hpp>
#include <arguments/megatron/parallel_groups.hpp>
#include <fmt/format.h>

namespace shardplan {

class Translation {
 public:
  template <class... Value>
  void flag(std::string name, const Value&... value) {
    run_.flags.push_back({std::move(name), {fmt::format("{}", value)...}});
  }
  void missing(std::string what, std::string why) { run_.untranslated.push_back({std::move(what), std::move(why)}); }
  void unknown(std::string flag, std::string why) { run_.unknown.push_back({std::move(flag), std::move(why)}); }
  void hosts(std::int64_t nodes, std::int64_t processes) {
    run_.nodes = nodes;
    run_.processes_per_node = processes;
  }
  void connections(DeviceConnections connections) { run_.connections = connections; }
  MegatronRun take() { return std::move(run_); }

 private:
  MegatronRun run_;
};

/// Weights lie in shards of Megatron-FSDP's, which has Adam and SGD alone.
bool fully_sharded(const Configuration& configuration, const ParallelGroups& groups);
void translate_model(const Configuration& configuration, Translation& to);
/// What only some decoder blocks have in their layers: by its flags, or as what has none.
void translate_variants(const Model& model, Translation& to);
void translate_parallelism(const Configuration& configuration, const ParallelGroups& groups, Translation& to);
void translate_training(const Configuration& configuration, const ParallelGroups& groups, Translation& to);

}  // namespace shardplan
