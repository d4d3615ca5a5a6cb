#include <fmt/format.h>

#include <cost_models/blocks/partition_block.hpp>
#include <cost_models/memory/host_traffic.hpp>
#include <cost_models/memory/memory_use.hpp>
#include <cost_models/memory/static_memory.hpp>
#include <cost_models/step/layer_stack.hpp>
#include <cost_models/step/optimizer_traffic.hpp>
#include <cost_models/step/pipeline_traffic.hpp>
#include <cost_models/time/collective_time.hpp>
#include <cost_models/time/step_time.hpp>
#include <hardware/network/mesh_embedding.hpp>
#include <map>
#include <models/model_flops.hpp>
#include <planner/constraints/constraints.hpp>
#include <planner/evaluate/evaluate.hpp>
#include <planner/findings/findings.hpp>
#include <rules/bind_program.hpp>
#include <shardplan/error.hpp>

namespace shardplan {
namespace {

std::vector<Collective> all_collectives(const BoundProgram& program, const std::vector<PartitionedBlock>& blocks,
                                        const TrainConfig& config, const Compiler& compiler) {
  std::vector<Collective> all;
  const auto append = [&](const std::vector<Collective>& some) { all.insert(all.end(), some.begin(), some.end()); };
  for (const auto& block : blocks) append(block.collectives);
  append(pipeline_traffic(program, blocks, config));
  append(layer_stack_traffic(program, blocks, config, compiler));
  append(zero1_traffic(program, blocks, config, compiler));
  append(muon_traffic(program, blocks, config, compiler));
  return all;
}

void price(std::vector<Collective>& collectives, const MeshEmbedding& embedding) {
  std::map<std::pair<AxisList, GroupSpan>, GroupNetwork> networks;
  for (auto& collective : collectives) {
    const auto [network, is_new] = networks.try_emplace({collective.axes, collective.span});
    if (is_new) network->second = embedding.network(collective.axes, collective.span);
    collective.seconds = collective_time(collective, network->second);
  }
}

/// The mesh on the machine's links. One that the torus can't hold whole is priced as if axes could be split, and said
/// to be infeasible.
MeshEmbedding embed_anyway(const Configuration& c, std::optional<Infeasible>& refused) {
  auto embedding = embed(c.hardware, c.slice, c.mesh, device_order(c.config));
  if (auto* whole = std::get_if<MeshEmbedding>(&embedding)) return std::move(*whole);
  refused = std::get<Infeasible>(embedding);
  auto split = embed(c.hardware, c.slice, c.mesh, {.allow_split_physical_axes = true});
  if (auto* parts = std::get_if<MeshEmbedding>(&split)) return std::move(*parts);
  throw InputError("mesh " + describe(c.mesh) + ": " + std::get<Infeasible>(split).message);
}

std::optional<Infeasible> indivisible_weight(const BoundProgram& program, const std::vector<PartitionedBlock>& blocks) {
  for (const auto& block : blocks)
    for (std::size_t i = 0; i < block.specs.size(); ++i) {
      const Tensor& tensor = block.block->tensors[i];
      if (!tensor.parameter) continue;
      std::vector<std::int64_t> sizes;
      for (const auto& dim : tensor.dims) sizes.push_back(dim.size);
      if (auto violation = indivisible(block.block->name + "/" + tensor.name, sizes, block.specs[i], *program.mesh))
        return violation;
    }
  return std::nullopt;
}

/// MaxText refuses to start with too many weights whole on an axis (SHARDING.md section 6).
std::optional<Infeasible> refused_at_start(const std::vector<Finding>& findings) {
  for (const auto& finding : findings)
    if (finding.id == FindingId::weights_not_sharded && finding.severity == Severity::error)
      return Infeasible{ConstraintId::weights_not_sharded, finding.message, 1, 0};
  return std::nullopt;
}

std::optional<Infeasible> too_large(const MemoryUse& memory) {
  if (memory.peak() <= memory.capacity) return std::nullopt;
  return Infeasible{ConstraintId::hbm,
                    fmt::format("needs {:.1f} GiB a device at the {}, {:.1f} GiB available", gibibytes(memory.peak()),
                                memory.peak_moment, gibibytes(memory.capacity)),
                    memory.peak().value, memory.capacity.value};
}

/// Reads parameters, moments and gradients, writes parameters and moments; gradients are summed over accumulated passes.
VectorWork update_work(const MemoryUse& memory, const HostTraffic& host, const TrainConfig& config,
                       const Compiler& compiler) {
  const Bytes gradients = memory.parameters * config.gradient_accumulation_steps;
  const Bytes traffic = (memory.parameters + memory.optimizer + host.optimizer) * 2 + gradients;
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
  e.devices = c.mesh.devices();
  e.global_batch_tokens = global_batch(c) * c.config.gradient_accumulation_steps * c.config.max_target_length;
  e.moe_path = c.config.moe_path;
  e.mesh = c.mesh;
  e.config = c.config;
  e.launchable = c.hardware.launch.hardware != MaxtextHardware::none;
  return e;
}

}  // namespace

Evaluation evaluate(const Configuration& c) { return evaluate_program(c, program_of(c)); }

Evaluation evaluate_program(const Configuration& c, Program step) {
  const auto laid_out = std::make_shared<LaidOutProgram>();
  laid_out->program = std::move(step);
  const Program& program = laid_out->program;
  const BoundProgram bound = bind_program(program, c.rules, c.mesh);
  auto blocks = partition(bound, c.config, c.compiler);

  Evaluation e = describe_run(c);
  std::optional<Infeasible> misfit;
  const MeshEmbedding embedding = embed_anyway(c, misfit);
  e.collectives = all_collectives(bound, blocks, c.config, c.compiler);
  price(e.collectives, embedding);
  e.memory = memory_use(blocks, bound, c.config, c.compiler);
  e.memory.capacity = memory_capacity(c.hardware, c.memory_limits);
  e.memory.reserved = reserved_memory(e.memory.capacity, c.memory_limits.reserve);

  const double tokens = static_cast<double>(program.batch * c.config.gradient_accumulation_steps * program.sequence);
  const Flops model_flops = model_flops_per_token(program) * tokens;
  HostTraffic host = host_traffic(bound, blocks, c.config);
  const auto unpriced = host_without_link(host, c.hardware);
  if (unpriced) host = HostTraffic::none(blocks.size());
  ScheduledStep scheduled = schedule_step({blocks, e.collectives, program, c.config, c.compiler, c.hardware, host,
                      update_work(e.memory, host, c.config, c.compiler), model_flops, tokens, e.devices});
  e.time = scheduled.time;
  for (std::size_t i = 0; i < e.collectives.size(); ++i) e.collectives[i].exposed = scheduled.exposed[i];

  e.infeasible = first_violation(c, bound);
  if (!e.infeasible) e.infeasible = indivisible_weight(bound, blocks);
  if (!e.infeasible) e.infeasible = misfit;
  if (!e.infeasible) e.infeasible = too_large(e.memory);
  if (!e.infeasible) e.infeasible = unpriced;
  e.findings = findings_of(c, bound, blocks, e);
  for (auto& block : blocks) laid_out->specs.push_back(std::move(block.specs));
  e.laid_out = laid_out;
  if (!e.infeasible) e.infeasible = refused_at_start(e.findings);
  return e;
}

Evaluation evaluate_to_show(const Configuration& configuration) {
  Evaluation evaluation = evaluate(configuration);
  evaluation.configuration = std::make_shared<const Configuration>(configuration);
  return evaluation;
}

}  // namespace shardplan
