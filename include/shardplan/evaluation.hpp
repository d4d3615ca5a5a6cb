#pragma once
// The answer for one configuration: counts, memory, time, findings. Totals are sums of the parts printed beside them.
#include <cstdint>
#include <memory>
#include <optional>
#include <shardplan/answer/held_buffer.hpp>
#include <shardplan/answer/step_timeline.hpp>
#include <shardplan/assumption.hpp>
#include <shardplan/bound_program.hpp>
#include <shardplan/collective/collective.hpp>
#include <shardplan/compiler/compiler.hpp>
#include <shardplan/finding.hpp>
#include <shardplan/infeasible.hpp>
#include <shardplan/mesh/mesh.hpp>
#include <shardplan/train_config.hpp>
#include <shardplan/units.hpp>
#include <string>
#include <utility>
#include <vector>

namespace shardplan {

/// How surely a program fits.
enum class Fit : std::uint8_t {
  fits,          ///< even the high end of the range leaves the reserve free
  marginal,      ///< between
  does_not_fit,  ///< not even the low end is within the capacity
};
std::string_view name_of(Fit fit);  ///< "does_not_fit"

/// Bytes per device. arguments = parameters + optimizer + batch; peak is the largest of the moments that memory_use
/// models, and the expected one: the real one is as likely above as below, within `low` and `high`.
struct MemoryUse {
  Bytes parameters, optimizer, batch;
  Bytes gradients, activations, temporaries;  ///< at the peak
  Bytes low, high;                            ///< of the peak
  Bytes if_head_waits;                        ///< the peak, were the head's weight gradient computed last
  Bytes capacity;                             ///< what the program can use of the device
  Bytes reserved;                             ///< of the capacity, to stay free
  std::string peak_moment;                    ///< "loss", "backward of moe_layers", "optimizer"
  Bytes arguments() const { return parameters + optimizer + batch; }
  Bytes peak() const { return arguments() + gradients + activations + temporaries; }
  Bytes allowed() const { return capacity - reserved; }
  Fit fit() const;
};

/// Seconds of a device's own work.
struct ComputeSeconds {
  Seconds matmul;          ///< dense products
  Seconds grouped_matmul;  ///< of expert rows
  Seconds attention;
  Seconds vector;     ///< elementwise work, copies and reductions, without the update
  Seconds bias_gradients;  ///< experts' rows added up where they wait for each other (GPUs)
  Seconds optimizer;  ///< the update
  Seconds contention;  ///< what all these take longer while collectives run on the same processors
  Seconds total() const {
    return matmul + grouped_matmul + attention + vector + bias_gradients + optimizer + contention;
  }
  ComputeSeconds& operator+=(const ComputeSeconds& other);
};
ComputeSeconds operator+(ComputeSeconds a, const ComputeSeconds& b);
ComputeSeconds operator*(const ComputeSeconds& a, double n);

/// Seconds per step. step = compute + exposed_collective + exposed_host + bubble. Beside it stands what no published run
/// had in its step: since December 2025 (3dc998871) MaxText constrains the places of routing's scatter, so that every
/// device scatters the choices of all of them. Plans are ranked with it.
struct StepTime {
  ComputeSeconds parts;  ///< of compute
  Seconds compute, exposed_collective, hidden_collective, bubble;
  Seconds exposed_host, hidden_host;  ///< copies between the device and its host's memory
  Seconds if_all_hid, if_none_hid;    ///< the step if every collective ran beside compute, and if none did
  double tokens_per_second_per_device = 0;
  double model_flops_utilization = 0;  ///< model FLOPs (no recomputation, causal attention) over peak
  Seconds all_token_routing{};           ///< of the dropping path, in no other number here
  Seconds least_all_token_routing{};     ///< of it, what grows no faster than the tokens
  Seconds step() const { return compute + exposed_collective + exposed_host + bubble; }
  Seconds with_routing() const { return step() + all_token_routing; }
  double utilization_with_routing() const {
    return all_token_routing.value == 0 ? model_flops_utilization : model_flops_utilization * (step() / with_routing());
  }
};

struct Configuration;

/// A compiler flag, and the same run with and without it.
struct FlagWorth {
  CompilerFlag flag;
  bool given = false;  ///< else one that recipes set
  Seconds step_with, step_without;
  std::string source;  ///< which recipes; empty: given
  double share() const { return step_with / step_without - 1; }  ///< of the step that it takes off (negative) or adds
};

/// What a search decides by.
struct RunCost {
  std::int64_t devices = 0;
  MemoryUse memory;
  StepTime time;
  std::optional<Infeasible> infeasible;  ///< empty: it runs and fits
  double tokens_per_second() const { return time.tokens_per_second_per_device * static_cast<double>(devices); }
  /// Were the routing of all tokens in the step: what runs are compared by.
  double tokens_per_second_with_routing() const {
    if (time.all_token_routing.value == 0) return tokens_per_second();
    return tokens_per_second() * (time.step() / time.with_routing());
  }
};

/// Whether nothing but memory may keep it from running.
inline bool runs_if_large_enough(const RunCost& run) {
  return !run.infeasible || run.infeasible->constraint == ConstraintId::hbm;
}
/// It runs, or may: a peak that is expected to be too large, but within what predictions are off by, is no refusal.
inline bool may_run(const RunCost& run) { return runs_if_large_enough(run) && run.memory.fit() != Fit::does_not_fit; }

struct Evaluation : RunCost {
  std::string hardware, model, rules, remat;
  int chips = 0, slices = 1;
  std::int64_t global_batch_tokens = 0;  ///< of a step on all devices, accumulated passes included
  MoePath moe_path = MoePath::none;
  Mesh mesh;
  TrainConfig config;
  std::shared_ptr<const LaidOutProgram> laid_out;  ///< what the ids of the collectives are ids of
  std::vector<Collective> collectives;
  std::vector<Finding> findings;
  std::vector<HeldBuffer> held;  ///< at the peak of memory, the largest first
  std::vector<AssumedStep> assumed;      ///< of what is shown, the widest first
  std::vector<FlagWorth> flag_worths;  ///< of what is shown: modelled flags that are given, others that would spare time
  std::shared_ptr<const Configuration> configuration;  ///< what was costed; kept only for evaluations that are shown
  std::shared_ptr<const StepTimeline> timeline;        ///< when everything runs; of what is drawn
  bool launchable = true;                              ///< MaxText runs on the machine
};

/// What the assumptions of a shown evaluation span; empty where none were looked at.
struct StepRange {
  Seconds low, high;
};
std::optional<StepRange> range_of(const Evaluation& evaluation);
/// The same with the routing of all tokens, which no assumption is about.
std::optional<StepRange> range_with_routing(const Evaluation& evaluation);

}  // namespace shardplan
