#pragma once
// One run, fully said: the model, the machine, the sharding rules, the mesh and the settings that change the program.
#include <cstdint>
#include <functional>
#include <shardplan/compiler/compiler.hpp>
#include <shardplan/machine/hardware.hpp>
#include <shardplan/machine/memory_limits.hpp>
#include <shardplan/mesh/mesh.hpp>
#include <shardplan/model.hpp>
#include <shardplan/mesh/sharding.hpp>
#include <shardplan/step_counts.hpp>
#include <shardplan/train_config.hpp>
#include <string>
#include <utility>
#include <vector>

namespace shardplan {

/// KEY and VALUE as they were written.
using PassedArguments = std::vector<std::pair<std::string, std::string>>;

struct Configuration;

/// What a given word demands of the run: MaxText would not start others with it, or shardplan does not model them.
struct StartCondition {
  std::string place;  ///< begins the message: "dropout_rate=2"
  std::string reason;
  std::function<bool(const Configuration&)> is_broken;
};

struct Configuration {
  Model model;  ///< overrides applied
  HardwareProfile hardware;
  Compiler compiler;   ///< the machine's
  Slice slice;         ///< one slice of a torus, or one node (or part of it)
  int num_slices = 1;  ///< slices or nodes, joined by the dcn_* axes
  std::int64_t devices() const { return std::int64_t{slice.devices} * num_slices; }
  RuleSet rules;       ///< active: merged, and edited for pipelining
  Mesh mesh;
  TrainConfig config;
  MemoryLimits memory_limits;

  std::vector<ModelOverride> model_overrides;  ///< already in `model`
  PassedArguments passed_arguments;            ///< of no cost; printed commands repeat them
  ModelRules rule_changes;                     ///< what the arguments change in the rules; already in `rules`
  std::vector<StartCondition> start_conditions;  ///< of the arguments; what changes the run has to keep them
  std::vector<std::string> ignored_axes;       ///< axes asked for that `rules` has not: MaxText drops them silently
  std::vector<std::string> ignored_places;     ///< words for remat_policy=custom beside another: likewise
};

/// XLA's flags as the run is told them: what is assumed of runs that offload only where its remat policy does.
std::vector<CompilerFlag> flags_of(const Configuration& configuration);

/// B: the sequences of one forward pass over all devices.
std::int64_t global_batch(const Configuration& configuration);

/// Stages of the pipeline; 1 without one.
int pipeline_stages(const Mesh& mesh);

/// The first of its start_conditions that the configuration breaks; null: none.
const StartCondition* broken_condition(const Configuration& configuration);

/// B, or one microbatch of it inside a pipeline. Below 1 there is nothing to cost.
std::int64_t layer_batch(const Configuration& configuration);

}  // namespace shardplan
