// No name decides anything: with every tensor, operation and block called by a number, a configuration has the same
// collectives, memory, times and findings.
#include <gmock/gmock.h>

#include <planner/constraints/constraints.hpp>
#include <planner/evaluate/evaluate.hpp>
#include <tests/unit/check/checking.hpp>
#include <tuple>

namespace shardplan {
namespace {

Program renamed(Program program) {
  int number = 0;
  for (auto& block : program.blocks) {
    block.name = std::to_string(++number);
    for (auto& tensor : block.tensors) tensor.name = std::to_string(++number);
    for (auto& operation : block.operations) operation.name = std::to_string(++number);
  }
  return program;
}

auto numbers_of(const Collective& c) {
  return std::tuple(c.phase, c.kind, c.axes, c.group_size, c.bytes.value, c.executions, c.seconds.value, c.parameter,
                    c.block, c.operation, c.tensor, c.cause);
}

auto numbers_of(const MemoryUse& m) {
  return std::tuple(m.parameters.value, m.optimizer.value, m.batch.value, m.gradients.value, m.activations.value,
                    m.temporaries.value);
}

using Told = std::tuple<FindingId, Severity, std::vector<std::string>>;

std::vector<Told> told_by(const Evaluation& evaluation) {
  std::vector<Told> told;
  for (const auto& finding : evaluation.findings) told.emplace_back(finding.id, finding.severity, finding.axes);
  return told;
}

void expect_equal(const Evaluation& named, const Evaluation& numbered) {
  ASSERT_EQ(named.collectives.size(), numbered.collectives.size());
  for (std::size_t i = 0; i < named.collectives.size(); ++i)
    EXPECT_EQ(numbers_of(named.collectives[i]), numbers_of(numbered.collectives[i])) << "collective " << i;
  EXPECT_EQ(numbers_of(named.memory), numbers_of(numbered.memory));
  EXPECT_EQ(named.time.step().value, numbered.time.step().value);
  EXPECT_EQ(told_by(named), told_by(numbered));
  ASSERT_EQ(named.infeasible.has_value(), numbered.infeasible.has_value());
  if (named.infeasible) {
    EXPECT_EQ(named.infeasible->constraint, numbered.infeasible->constraint);
  }
}

TEST(Names, DecideNothing) {
  const std::string mixtral = "model_name=mixtral-8x7b compile_topology=v5p-16 ";
  const std::string llama = "model_name=llama2-7b compile_topology=v5p-16 ";
  const std::string deepseek = "model_name=deepseek2-16b compile_topology=v5p-16 ";
  const std::string dropping = " sparse_matmul=False capacity_factor=1.25 ";
  std::size_t findings = 0;
  for (const auto& line :
       {mixtral, llama, deepseek, mixtral + dropping,
        mixtral + dropping + "ici_expert_parallelism=8 ici_fsdp_parallelism=1",
        mixtral + dropping + "ici_expert_parallelism=4 ici_fsdp_parallelism=2 moe_dispatch_no_expert_sharding=True",
        mixtral + dropping + "ici_expert_parallelism=4 ici_fsdp_parallelism=2 custom_mesh_and_rule=cp-as-ep",
        mixtral + dropping + "ici_expert_parallelism=8 ici_fsdp_parallelism=1 custom_mesh_and_rule=ep-as-cp",
        mixtral + "ici_expert_parallelism=4 use_ring_of_experts=True", deepseek + "ici_expert_parallelism=4",
        deepseek + "ici_fsdp_parallelism=2 ici_context_parallelism=4", deepseek + "opt_type=muon",
        llama + "ici_fsdp_parallelism=2 ici_context_parallelism=4 custom_mesh_and_rule=cp-as-ep",
        llama + "ici_fsdp_parallelism=2 ici_tensor_parallelism=4", llama + "num_vocab_tiling=4",
        llama + "ici_data_parallelism=2 shard_optimizer_over_data=True",
        llama + "ici_pipeline_parallelism=2 pipeline_fsdp_ag_once=True",
        llama + "ici_pipeline_parallelism=2 shard_mode=explicit"}) {
    SCOPED_TRACE(line);
    const Configuration configuration = read(line);
    const Evaluation named = evaluate(configuration);
    expect_equal(named, evaluate_program(configuration, renamed(program_of(configuration))));
    findings += named.findings.size();
  }
  EXPECT_GT(findings, 12U) << "the table has to make findings speak";
}

TEST(Names, ThatAFileChoosesDecideNothing) {
  Configuration configuration = read("model_name=mixtral-8x7b compile_topology=v5p-16 ici_expert_parallelism=4");
  const Evaluation before = evaluate(configuration);
  configuration.model.name = "another model";
  configuration.hardware.name = "another machine";
  configuration.slice.name = "another-16";
  configuration.rules.name = "other rules";
  expect_equal(before, evaluate(configuration));
}

}  // namespace
}  // namespace shardplan
