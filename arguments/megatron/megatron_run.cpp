#include <arguments/megatron/megatron_run.hpp>
#include <arguments/megatron/translation.hpp>

namespace shardplan {

MegatronRun megatron_run(const Configuration& c) {
  Translation to;
  to.hosts(c.num_slices, c.slice.devices);
  const ParallelGroups groups = parallel_groups(c);
  translate_parallelism(c, groups, to);
  translate_training(c, groups, to);
  translate_model(c, to);
  return to.take();
}

}  // namespace shardplan
