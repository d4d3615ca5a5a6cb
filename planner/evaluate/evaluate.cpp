#include <fmt/format.h>

#include <algorithm>
#include <cost_models/blocks/partition_block.hpp>
#include <cost_models/memory/host_traffic.hpp>
#include <cost_models/memory/memory_use.hpp>
#include <cost_models/memory/state/static_memory.hpp>
#include <cost_models/moves/emitted_kinds.hpp>
#include <cost_models/step/batch_parts.hpp>
#include <cost_models/step/layer_stack.hpp>
#include <cost_models/step/muon_matrix.hpp>
#include <cost_models/step/optimizer_traffic.hpp>
#include <cost_models/step/pipeline_traffic.hpp>
#include <cost_models/time/cloned_gathers.hpp>
#include <cost_models/time/collective_time.hpp>
#include <cost_models/time/step_time.hpp>
#include <planner/constraints/constraints.hpp>
#include <planner/evaluate/evaluate.hpp>
#include <planner/findings/finding_rules.hpp>
#include <planner/findings/findings.hpp>

namespace shardplan {
namespace {

std::vector<Collective> all_collectives(const BoundProgram& program, const std::vector<PartitionedBlock>& blocks,
                                        const TrainConfig& config, const Compiler& compiler) {
  std::vector<Collective> all;
  all.reserve(64);
  const auto append = [&](const std::vector<Collective>& some) { all.insert(all.end(), some.begin(), some.end()); };
  for (const auto& block : blocks) append(block.collectives);
  append(pipeline_traffic(program, blocks, config));
  append(tile_traffic(program, blocks, config));
  append(layer_stack_traffic(program, blocks, config, compiler));
  append(zero1_traffic(program, blocks, config, compiler));
  append(muon_traffic(program, blocks, config, compiler));
  return as_emitted(std::move(all), *program.program, *program.mesh, compiler);
}

void price(std::vector<Collective>& collectives, const Configuration& c, PreparedMesh& mesh) {
  for (auto& collective : collectives)
    collective.seconds = collective_time(collective, mesh.network(c, collective.axes, collective.span));
}

std::optional<Infeasible> indivisible_weight(const BoundProgram& program, const std::vector<PartitionedBlock>& blocks) {
  for (const auto& block : blocks)
    for (std::size_t i = 0; i < block.specs().size(); ++i) {
      const Tensor& tensor = block.block->tensors[i];
      if (!tensor.parameter) continue;
      if (auto violation = indivisible(*block.block, tensor, block.specs()[i], *program.mesh)) return violation;
    }
  return std::nullopt;
}

/// MaxText refuses to start with too many weights whole on an axis (SHARDING.md section 6).
std::optional<Infeasible> refused_for(const std::optional<Finding>& weights) {
  if (!weights || weights->severity != Severity::error) return std::nullopt;
  return Infeasible{ConstraintId::weights_not_sharded, weights->message, 1, 0};
}

std::optional<Infeasible> too_large(const MemoryUse& memory) {
  if (memory.peak() <= memory.capacity) return std::nullopt;
  return Infeasible{ConstraintId::hbm,
                    fmt::format("needs {:.1f} GiB a device at the {}, {:.1f} GiB available", gibibytes(memory.peak()),
                                memory.peak_moment, gibibytes(memory.capacity)),
                    memory.peak().value, memory.capacity.value};
}

/// Reads parameters, moments and gradients, writes parameters and moments; gradients are summed over accumulated passes.
/// Where the moments are updated first, the parameters' kernel reads them again.
VectorWork update_work(const MemoryUse& memory, const HostTraffic& host, const TrainConfig& config,
                       const Compiler& compiler) {
  const Bytes gradients = memory.parameters * config.gradient_accumulation_steps;
  const Bytes moments = memory.optimizer + host.optimizer;
  const double again = compiler.vector_kernels.of(VectorKernel::moments).forward.operands;
  const Bytes read_again{static_cast<std::int64_t>(static_cast<double>(moments.value) * again)};
  const Bytes traffic = (memory.parameters + moments) * 2 + gradients + read_again;
  const VectorCost cost = compiler.vector_kernels.of(VectorKernel::update).forward;
  const double elements =
      static_cast<double>(memory.parameters.value) / static_cast<double>(size_of(config.weight_dtype));
  return {cost.passes * elements, cost.operands * elements, traffic};
}

std::optional<Infeasible> host_without_link(const HostTraffic& host, const HardwareProfile& hardware) {
  if (hardware.host_link_bandwidth || host.empty()) return std::nullopt;
  return Infeasible{ConstraintId::host_traffic_not_priced,
                    fmt::format("offloads to the host's memory, and {}'s profile has no host_link_bandwidth to price it",
                                hardware.name),
                    0, 0};
}

Evaluation describe_run(const Configuration& c) {
  Evaluation e;
  e.hardware = c.hardware.name;
  e.model = c.model.name;
  e.rules = c.rules.name;
  e.remat = c.config.remat_policy;
  e.slices = c.num_slices;
  e.chips = c.slice.chips * c.num_slices;
  e.global_batch_tokens = global_batch(c) * c.config.gradient_accumulation_steps * c.config.max_target_length;
  e.moe_path = c.config.moe_path;
  e.mesh = c.mesh;
  e.config = c.config;
  e.launchable = c.hardware.launch.hardware != MaxtextHardware::none;
  return e;
}

/// What refuses a run but for its weights' layout.
std::optional<Infeasible> refusal(const Configuration& c, PreparedMesh& mesh, const PreparedMesh::Step& step,
                                  const std::vector<PartitionedBlock>& blocks, const MemoryUse& memory,
                                  const HostTraffic& host) {
  if (auto violation = mesh.violation(c, step)) return violation;
  if (auto violation = violation_of_policy(c)) return violation;
  if (auto violation = indivisible_weight(step.bound, blocks)) return violation;
  if (auto violation = mesh.misfit(c)) return violation;
  if (auto violation = host_without_link(host, c.hardware)) return violation;
  return too_large(memory);
}

/// What a search leaves out; filled in where it is asked for.
struct RunDetails {
  std::vector<HeldBuffer>* held = nullptr;
  StepTimeline* timeline = nullptr;
};

/// Compiler::stage_memory_error, where it concerns the program.
double stage_error(const Program& program, const Compiler& compiler) {
  const bool mixture = std::any_of(program.blocks.begin(), program.blocks.end(),
                                   [](const Block& block) { return block.in_pipeline && block.mixture; });
  return mixture && program.pipeline.layers_per_stage > 1 ? compiler.stage_memory_error : 0;
}

/// Memory and what refuses a run but for its weights' layout.
RunCost memory_of_run(const Configuration& c, PreparedMesh& mesh, const PreparedMesh::Step& step,
                      const std::vector<PartitionedBlock>& blocks, const HostTraffic& host,
                      const RunDetails& details = {}) {
  RunCost cost;
  cost.devices = c.mesh.devices();
  const Bytes capacity = memory_capacity(c.hardware, c.memory_limits);
  cost.memory = memory_use(blocks, step.bound, c.config, c.compiler, capacity, details.held);
  raise_range(cost.memory, std::max(c.model.memory_error_high, stage_error(*step.bound.program, c.compiler)));
  cost.memory.reserved = reserved_memory(cost.memory.capacity, c.memory_limits.reserve);
  cost.infeasible = refusal(c, mesh, step, blocks, cost.memory, host);
  return cost;
}

/// And its time; `collectives` priced and scheduled.
RunCost cost_of_run(const Configuration& c, PreparedMesh& mesh, const PreparedMesh::Step& step,
                    const std::vector<PartitionedBlock>& blocks, std::vector<Collective>& collectives,
                    const RunDetails& details = {}) {
  const Program& program = step.program();
  HostTraffic host = host_traffic(step.bound, blocks, c.config);
  RunCost cost = memory_of_run(c, mesh, step, blocks, host, details);
  price(collectives, c, mesh);
  clone_combined_gathers(collectives, cost.memory, c.compiler);

  const double tokens = static_cast<double>(program.batch * c.config.gradient_accumulation_steps * program.sequence);
  if (host_without_link(host, c.hardware)) host = HostTraffic::none(blocks.size());
  const StepWork work{blocks, collectives, program, c.compiler, c.hardware, host,
                      update_work(cost.memory, host, c.config, c.compiler), step.counted->model_flops_per_token * tokens,
                      tokens, cost.devices, newton_schulz_products(blocks, step.bound, c.config, c.compiler),
                      step.bodies.get()};
  const ScheduledStep scheduled = schedule_step(work);
  if (details.timeline) *details.timeline = place_step(work);
  cost.time = scheduled.time;
  for (std::size_t i = 0; i < collectives.size(); ++i) collectives[i].exposed = scheduled.exposed[i];
  return cost;
}

}  // namespace

Evaluation evaluate(const Configuration& c) { return evaluate_program(c, program_of(c)); }

Evaluation evaluate_program(const Configuration& c, Program program) {
  PreparedMesh mesh;
  const PreparedMesh::Step& step = mesh.step(c, std::move(program));
  auto blocks = partition(step.bound, c.config, c.compiler);
  Evaluation e = describe_run(c);
  e.collectives = all_collectives(step.bound, blocks, c.config, c.compiler);
  static_cast<RunCost&>(e) = cost_of_run(c, mesh, step, blocks, e.collectives, {.held = &e.held});
  e.findings = findings_of(c, step.bound, blocks, e);
  if (!e.infeasible) e.infeasible = refused_at_start(e);
  const auto laid_out = std::make_shared<LaidOutProgram>();
  for (const auto& block : blocks) laid_out->specs.push_back(block.specs());
  laid_out->program = step.program();
  e.laid_out = laid_out;
  return e;
}

StepTimeline timeline_of(const Configuration& c) {
  PreparedMesh mesh;
  const PreparedMesh::Step& step = mesh.step(c);
  const auto blocks = partition(step.bound, c.config, c.compiler);
  auto collectives = all_collectives(step.bound, blocks, c.config, c.compiler);
  StepTimeline timeline;
  cost_of_run(c, mesh, step, blocks, collectives, {.timeline = &timeline});
  return timeline;
}

RunCost evaluate_cost(const Configuration& c, PreparedMesh& mesh) {
  const PreparedMesh::Step& step = mesh.partitioned_step(c);
  auto collectives = all_collectives(step.bound, step.blocks, c.config, c.compiler);
  RunCost cost = cost_of_run(c, mesh, step, step.blocks, collectives);
  if (cost.infeasible) return cost;
  cost.infeasible = refused_for(unsharded_weights(c, step.bound, step.blocks, collectives));
  return cost;
}

RunCost evaluate_memory(const Configuration& c, PreparedMesh& mesh) {
  const PreparedMesh::Step& step = mesh.partitioned_step(c);
  RunCost cost = memory_of_run(c, mesh, step, step.blocks, host_traffic(step.bound, step.blocks, c.config));
  if (cost.infeasible || !leaves_weights_unsharded(step.blocks, c)) return cost;
  const auto collectives = all_collectives(step.bound, step.blocks, c.config, c.compiler);
  cost.infeasible = refused_for(unsharded_weights(c, step.bound, step.blocks, collectives));
  return cost;
}

std::optional<Infeasible> refused_at_start(const Evaluation& run) {
  const auto weights = std::find_if(run.findings.begin(), run.findings.end(), [](const Finding& finding) {
    return finding.id == FindingId::weights_not_sharded;
  });
  return weights == run.findings.end() ? std::nullopt : refused_for(*weights);
}

Evaluation evaluate_to_show(const Configuration& configuration) {
  Evaluation evaluation = evaluate(configuration);
  evaluation.configuration = std::make_shared<const Configuration>(configuration);
  return evaluation;
}

}  // namespace shardplan
