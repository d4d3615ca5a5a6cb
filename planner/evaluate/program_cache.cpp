#include <algorithm>
#include <models/model_flops.hpp>
#include <planner/constraints/constraints.hpp>
#include <planner/evaluate/program_cache.hpp>
#include <rules/bind_program.hpp>
#include <shardplan/attention/splash_blocks.hpp>
#include <utility>

namespace shardplan {

ProgramCache::Key ProgramCache::key_of(const Configuration& c) {
  const ParallelShape shape = parallel_shape(c);
  Key key{c.config, shape.devices, shape.stages, shape.expert_group, shape.two_fsdp_axes};
  key.config.remat_policy.clear();
  key.config.saved.clear();
  const TrainConfig any;
  key.config.shard_optimizer_over_data = any.shard_optimizer_over_data;
  key.config.packing = any.packing;
  key.config.max_segments_per_seq = any.max_segments_per_seq;
  key.config = with_splash_blocks(std::move(key.config), default_splash_blocks);
  return key;
}

std::size_t ProgramCache::Hash::operator()(const Key& key) const {
  std::size_t hash = 0;
  const auto add = [&](auto value) {
    hash = hash * 1000003 ^ std::hash<decltype(value)>{}(value);
  };
  add(key.config.per_device_batch_size);
  add(key.config.gradient_accumulation_steps);
  add(static_cast<int>(key.config.moe_path));
  add(key.config.moe_dispatch_no_expert_sharding);
  add(key.config.num_pipeline_microbatches);
  add(key.config.num_pipeline_repeats);
  add(key.config.num_layers_per_pipeline_stage);
  add(key.config.pipeline_fsdp_ag_once);
  add(key.devices);
  add(key.stages);
  add(key.expert_group);
  return hash;
}

std::shared_ptr<const CountedProgram> ProgramCache::known(const Key& key) {
  if (const auto found = recent_.find(key); found != recent_.end()) return found->second;
  const auto found = older_.find(key);
  return found == older_.end() ? nullptr : remember(key, found->second);
}

std::shared_ptr<const CountedProgram> ProgramCache::remember(const Key& key, std::shared_ptr<const CountedProgram> program) {
  if (recent_.size() >= std::max<std::size_t>(most_ / 2, 1)) older_ = std::exchange(recent_, {});
  return recent_.emplace(key, std::move(program)).first->second;
}

std::shared_ptr<const CountedProgram> ProgramCache::program_of(const Configuration& c) {
  const Key key = key_of(c);
  {
    const std::lock_guard lock(mutex_);
    if (auto found = known(key)) return found;
  }
  auto made = counted(shardplan::program_of(c));
  const std::lock_guard lock(mutex_);
  return remember(key, std::move(made));
}

std::shared_ptr<const CountedProgram> counted(Program program) {
  auto made = std::make_shared<CountedProgram>();
  made->program = std::move(program);
  made->model_flops_per_token = model_flops_per_token(made->program);
  made->constraints = constraints_of(made->program);
  return made;
}

}  // namespace shardplan
