#pragma once
// The answer for one configuration: counts, memory, time, findings. Totals are sums of the parts printed beside them.
#include <cstdint>
#include <memory>
#include <optional>
#include <shardplan/bound_program.hpp>
#include <shardplan/collective.hpp>
#include <shardplan/finding.hpp>
#include <shardplan/infeasible.hpp>
#include <shardplan/mesh.hpp>
#include <shardplan/train_config.hpp>
#include <shardplan/units.hpp>
#include <string>
#include <utility>
#include <vector>

namespace shardplan {

/// Bytes per device. arguments = parameters + optimizer + batch; peak is the largest of the moments that memory_use
/// models.
struct MemoryUse {
  Bytes parameters, optimizer, batch;
  Bytes gradients, activations, temporaries;  ///< at the peak
  Bytes capacity;                             ///< what the device has
  std::string peak_moment;                    ///< "loss", "backward of moe_layers", "optimizer"
  Bytes arguments() const { return parameters + optimizer + batch; }
  Bytes peak() const { return arguments() + gradients + activations + temporaries; }
};

/// Seconds per step. step = compute + exposed_collective + bubble.
struct StepTime {
  Seconds compute, exposed_collective, hidden_collective, bubble;
  double tokens_per_second_per_device = 0;
  double model_flops_utilization = 0;  ///< model FLOPs (no recomputation, causal attention) over peak
  Seconds step() const { return compute + exposed_collective + bubble; }
};

struct Configuration;

struct Evaluation {
  std::string hardware, model, rules, remat;
  int chips = 0, slices = 1;
  std::int64_t devices = 0;
  MoePath moe_path = MoePath::none;
  Mesh mesh;
  TrainConfig config;
  std::shared_ptr<const LaidOutProgram> laid_out;  ///< what the ids of the collectives are ids of
  std::vector<Collective> collectives;
  MemoryUse memory;
  StepTime time;
  std::vector<Finding> findings;
  std::optional<Infeasible> infeasible;                ///< empty: it runs and fits
  std::shared_ptr<const Configuration> configuration;  ///< what was costed; kept only for evaluations that are shown
  bool launchable = true;                              ///< MaxText runs on the machine
};

}  // namespace shardplan
