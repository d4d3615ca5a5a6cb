#pragma once
// Toy runs (toy_layers.hpp) kept whole, so that memory's functions can be asked about each block. Sizes read as MiB,
// rounded down: the norms' scales are less than one.
#include <algorithm>
#include <cost_models/memory/memory_use.hpp>
#include <cost_models/memory/saved_value.hpp>
#include <cost_models/memory/working_set.hpp>
#include <functional>
#include <memory>
#include <stdexcept>

#include "toy_layers.hpp"

namespace shardplan {

class ToyMemory {
 public:
  explicit ToyMemory(ToyRun run) : toy_(std::move(run)) {
    RuleSet rules = active_rules(load_rules(toy_.rules), toy_.model.rules);
    const int stages = parse_mesh(toy_.mesh, rules.mesh_axes).size_of("stage");
    if (stages > 1) rules = pipelined(rules);
    mesh_ = std::make_unique<Mesh>(mesh_of(toy_, rules.mesh_axes));
    program_ = std::make_unique<Program>(
        train_program(toy_.model, toy_.config, {mesh_->devices(), stages, mesh_->product(expert_axes(rules, *mesh_))}));
    bound_ = std::make_unique<BoundProgram>(bind_program(*program_, rules, *mesh_));
    blocks_ = partition(*bound_, toy_.config, toy_.compiler);
  }

  const PartitionedBlock& block(const std::string& name) const {
    for (const auto& block : blocks_)
      if (block.block->name == name) return block;
    throw std::runtime_error("no block " + name);
  }
  const std::vector<PartitionedBlock>& blocks() const { return blocks_; }
  const BoundProgram& bound() const { return *bound_; }
  const TrainConfig& config() const { return toy_.config; }
  const Compiler& compiler() const { return toy_.compiler; }
  MemoryUse use(Bytes capacity = {std::int64_t{95} << 30}, std::vector<HeldBuffer>* held = nullptr) const {
    return memory_use(blocks_, *bound_, toy_.config, toy_.compiler, capacity, held);
  }

 private:
  ToyRun toy_;
  std::unique_ptr<Mesh> mesh_;
  std::unique_ptr<Program> program_;
  std::unique_ptr<BoundProgram> bound_;
  std::vector<PartitionedBlock> blocks_;
};

/// Two layers with sliding windows and one without share an iteration: the first two run again whole, for the last one.
inline Model cycle_of_three() {
  Model model = toy_llama();
  model.layers = 6;
  model.attention_pattern = {256, 2};
  return model;
}

/// Of a block's buffers those that these words describe.
inline std::vector<Lifetime> lives_of(const ToyMemory& toy, const std::string& block, const std::string& words) {
  const PartitionedBlock& layer = toy.block(block);
  std::vector<Lifetime> found;
  for (const Lifetime& life : layer.lifetimes)
    if (describe(life.name, *layer.block) == words) found.push_back(life);
  return found;
}

inline const Lifetime& life(const PartitionedBlock& block, const std::string& name) {
  for (auto found = block.lifetimes.all().rbegin(); found != block.lifetimes.all().rend(); ++found)
    if (describe(found->name, *block.block) == name) return *found;
  throw std::runtime_error("no buffer " + name);
}

inline bool exists(const PartitionedBlock& block, const std::string& name) {
  return std::any_of(block.lifetimes.begin(), block.lifetimes.end(),
                     [&](const Lifetime& l) { return describe(l.name, *block.block) == name; });
}

inline bool meet(const Lifetime& a, const Lifetime& b) { return std::max(a.first, b.first) <= std::min(a.last, b.last); }

inline std::int64_t mib(Bytes bytes) { return bytes.value >> 20; }

/// Casts layer stacks before the loop, all-reduces over a whole slice of at least 8.
inline Compiler toy_tpu() {
  Compiler compiler = with(plain_compiler(), Habit::all_reduces_over_whole_slices);
  compiler.slice_sizes[Habit::all_reduces_over_whole_slices] = {8, {}};
  return compiler;
}

/// Transposes layer stacks in the dtype in which they are stored, leaves the head's gradient for last.
inline Compiler toy_gpu() {
  Compiler compiler = without(plain_compiler(), Habit::moves_stacks_in_compute_dtype);
  compiler.habits.add(Habit::copies_stacked_parameters);
  compiler.habits.add(Habit::defers_head_gradient);
  compiler.habits.remove(Habit::runs_expert_weight_gradients_last);
  compiler.overlap.one_in_flight = true;
  return compiler;
}

inline TrainConfig with(TrainConfig config, const std::function<void(TrainConfig&)>& change) {
  change(config);
  return config;
}

}  // namespace shardplan
