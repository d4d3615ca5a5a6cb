#pragma once
// Hand-made answers to render.
#include <shardplan/plan.hpp>

namespace shardplan::examples {

inline Bytes gib(std::int64_t count) { return {count << 30}; }

inline NamedCollective collective(Phase phase, CollectiveKind kind, AxisList axes, std::int64_t bytes,
                                  std::int64_t executions, std::string op, double seconds) {
  NamedCollective c;
  c.phase = phase;
  c.kind = kind;
  c.axes = std::move(axes);
  c.group_size = 4;
  c.bytes = {bytes};
  c.executions = executions;
  c.seconds = {seconds};
  c.op = std::move(op);
  return c;
}

/// Puts a collective of an activation into an evaluation, with the program that it is of: `op` is "block/operation".
inline void add(Evaluation& e, const NamedCollective& named) {
  auto program = e.laid_out ? std::make_shared<LaidOutProgram>(*e.laid_out) : std::make_shared<LaidOutProgram>();
  Block block;
  block.name = named.op.substr(0, named.op.find('/'));
  block.tensors.resize(1);
  block.tensors[0].name = "hidden state";
  block.operations = {{OpKind::einsum, named.op.substr(named.op.find('/') + 1), {0, 0}, 0}};
  program->program.blocks.push_back(block);
  program->specs.emplace_back(1);
  Collective c = named;
  c.block = static_cast<BlockId>(program->program.blocks.size()) - 1;
  c.operation = c.tensor = 0;
  c.cause = Cause::contracted_dim_split;
  c.from.partial = c.axes;
  e.collectives.push_back(c);
  e.laid_out = program;
}

inline Evaluation fitting() {
  Evaluation e;
  e.hardware = "tpu-v5p";
  e.model = "mixtral-8x7b";
  e.rules = "default";
  e.remat = "full";
  e.chips = 8;
  e.devices = 8;
  e.moe_path = MoePath::dropping;
  e.mesh.axes = {{"data", 1, 1}, {"fsdp", 2, 1}, {"expert", 4, 1}};
  e.config.per_device_batch_size = 4;
  e.global_batch_tokens = 65536;
  add(e, collective(Phase::forward, CollectiveKind::all_gather, {1}, 1'000'000'000, 32, "layers/MoeBlock_0/wi_0", 0.25));
  add(e, collective(Phase::backward, CollectiveKind::reduce_scatter, {1, 2}, 20'000'000, 32,
                    "layers/self_attention/query", 0.01));
  e.memory = {gib(10), gib(20), {40960}, gib(10), gib(30), gib(10), gib(78), gib(82), gib(80), gib(95), {}, "loss"};
  e.time = {{{1.0}, {}, {0.2}, {0.25}, {}, {0.05}, {}}, {1.5}, {0.4}, {0.3}, {0.1}, {}, {}, {1.6}, {2.3}, 4096.0, 0.452};
  e.findings = {{FindingId::expert_axis_stolen,
                 Severity::warning,
                 "the batch takes the expert axis",
                 "exp",
                 {"expert"},
                 "ep-as-dp"}};
  Configuration c;
  c.model.name = e.model;
  c.model.in_maxtext = true;
  c.hardware.launch.hardware = MaxtextHardware::tpu;
  c.hardware.link_bandwidth.value = 90e9;
  c.hardware.link_efficiency.value = 1;
  c.slice = {"v5p-8", 4, 4, {2, 2, 1}, {false, false, false}};
  c.rules.name = e.rules;
  c.mesh.axes = {{"expert", 4, 1}};
  e.configuration = std::make_shared<const Configuration>(c);
  return e;
}

inline Evaluation too_large() {
  Evaluation e = fitting();
  e.hardware = "tpu-v6e";
  e.memory.capacity = gib(32);
  e.infeasible = Infeasible{ConstraintId::hbm, "", gib(80).value, gib(32).value};
  return e;
}

inline MachinePlan machine_that_fits() {
  MachinePlan machine;
  machine.hardware = "tpu-v5p";
  machine.recommended = fitting();
  machine.alternatives = {fitting()};
  machine.reasons = {"gathers of expert weights take 12% of the step"};
  machine.evaluated = 1234;
  machine.fitting = 56;
  machine.search_seconds = 0.125;
  return machine;
}

inline MachinePlan machine_too_small() {
  MachinePlan machine;
  machine.hardware = "tpu-v6e";
  machine.closest = too_large();
  machine.would_fit = {{"--chips 32", std::nullopt}, {"mu_dtype=bfloat16", std::nullopt}};
  machine.rejections = {{ConstraintId::hbm, 1234, "80 GiB of 32 GiB"}};
  machine.evaluated = 1234;
  return machine;
}

inline MachinePlan machine_refused() {
  MachinePlan machine;
  machine.hardware = "h100";
  machine.refused = "h100 has no slice of 6 chips; nearest: 4 or 8";
  return machine;
}

}  // namespace shardplan::examples
