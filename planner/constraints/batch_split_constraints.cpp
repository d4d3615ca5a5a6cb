#include <fmt/format.h>

#include <cmath>
#include <shardplan/batch_split.hpp>
#include <planner/constraints/batch_split_constraints.hpp>
#include <planner/constraints/violation.hpp>
#include <shardplan/collective/counted.hpp>

namespace shardplan {
namespace {

Infeasible refused(std::string message, std::int64_t needed = 1, std::int64_t available = 0) {
  return {ConstraintId::batch_split, std::move(message), needed, available};
}

// scan_batch_split_layers asserts it.
Violation layers(const Configuration& c) {
  const std::int64_t count = c.model.moe_layers();
  if (count >= least_batch_split_layers) return std::nullopt;
  return refused(fmt::format("the batch-split schedule needs {}, not {}",
                             counted(least_batch_split_layers, "mixture-of-experts layer"), count),
                 least_batch_split_layers, count);
}

// Each device reshapes its own sequences to halves.
Violation halves(const Configuration& c) {
  const double sequences = c.config.per_device_batch_size;
  if (std::fmod(sequences, batch_split_factor) == 0 && sequences > 0) return std::nullopt;
  return refused(fmt::format("the batch-split schedule halves the {} of a device", counted(sequences, "sequence")),
                 batch_split_factor, static_cast<std::int64_t>(sequences));
}

// Its activations are split over data, fsdp and expert alone.
Violation context(const Configuration& c) {
  const int size = c.mesh.size_of(AxisRole::context);
  if (size == 1) return std::nullopt;
  return refused(fmt::format("batch-split layers compute the same on all devices of context={}", size), 1, size);
}

// init_splash_kernel, whatever attention says; the dense layers' own kernel would be another.
Violation kernel(const Configuration& c) {
  if (!c.compiler.kernels.has_megablox)
    return refused(fmt::format("batch-split layers call TPU kernels and don't run on {}", c.hardware.name));
  const AttentionKernel kernel = c.config.attention;
  if (kernel == AttentionKernel::autoselected || kernel == AttentionKernel::flash) return std::nullopt;
  return refused(fmt::format("batch-split layers have the flash kernel, not attention={}", name_of(kernel)));
}

// PartitionSpecs with `reduced` are types.
Violation shard_mode(const Configuration& c) {
  if (c.config.shard_mode_explicit) return std::nullopt;
  return refused("batch-split layers need shard_mode=explicit");
}

// models/deepseek_batchsplit_fp8.py, another program.
Violation quantization(const Configuration& c) {
  if (c.config.quantization == Quantization::none) return std::nullopt;
  return refused(fmt::format("quantization={}: of batch-split layers only those without are modelled",
                             name_of(c.config.quantization)));
}

// layers/decoders.py: without a scan the schedule's code isn't reached.
Violation scan(const Configuration& c) {
  if (c.config.scan_layers) return std::nullopt;
  return refused("the batch-split schedule is a scan: scan_layers=false is not modelled");
}

}  // namespace

Violation batch_split_violation(const Configuration& configuration) {
  if (!configuration.model.use_batch_split_schedule) return std::nullopt;
  return first_violation_of({layers, halves, context, kernel, shard_mode, quantization, scan}, configuration);
}

}  // namespace shardplan
