#include <arguments/megatron/megatron_run.hpp>
#include <arguments/megatron/translation.hpp>
#include <shardplan/machine/machine.hpp>

namespace shardplan {

MegatronRun megatron_run(const Configuration& c) {
  Translation to;
  const int hosts = hosts_of(c.hardware, c.slice);
  to.hosts(c.num_slices * hosts, c.slice.devices / hosts);
  const ParallelGroups groups = parallel_groups(c);
  translate_parallelism(c, groups, to);
  translate_training(c, groups, to);
  translate_model(c, to);
  return to.take();
}

}  // namespace shardplan
