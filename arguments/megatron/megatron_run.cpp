#include <arguments/megatron/megatron_run.hpp>
#include <arguments/megatron/translation.hpp>

namespace shardplan {

MegatronRun megatron_run(const Configuration& c) {
  Translation to;
  const std::int64_t devices = c.mesh.devices();
  const std::int64_t node = std::min<std::int64_t>(devices, std::int64_t{c.hardware.chips_per_node} * c.hardware.devices_per_chip);
  to.hosts(devices / node, node);
  const ParallelGroups groups = parallel_groups(c);
  translate_parallelism(c, groups, to);
  translate_training(c, groups, to);
  translate_model(c, to);
  return to.take();
}

}  // namespace shardplan
