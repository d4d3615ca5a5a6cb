#pragma once
// What a MaxText engineer should be told about a configuration beside its numbers, read off its own evaluation. What a
// fix would spare is another evaluation: planner/check.
//   id                                   from
//   expert-axis-stolen, expert-output-not-peeled, missing-all-to-all,
//   worst-case-rows, minimal-recomputes-wi-1                                      expert_findings.cpp
//   sequence-gathered-for-attention, attention-replicated,
//   expanded-key-value-gathered                                                   attention_findings.cpp
//   weights-not-sharded, layer-stack-reshard, optimizer-shards-permuted           weight_findings.cpp
//   unexpected-all-gather, unexpected-all-reduce,
//   all-reduce-where-reduce-scatter-suffices                                      collective_findings.cpp
//   axis-ignored, custom-rules-drop-model-rules, logits-sequence-gathered,
//   context-lost-in-explicit-mode, mesh-does-not-fit-torus                        setting_findings.cpp
#include <cost_models/partition/partitioned_block.hpp>
#include <shardplan/configuration.hpp>
#include <shardplan/evaluation.hpp>

namespace shardplan {

std::vector<Finding> findings_of(const Configuration& configuration, const BoundProgram& program,
                                 const std::vector<PartitionedBlock>& blocks, const Evaluation& evaluation);

/// The one of them that keeps MaxText from starting, weights-not-sharded; worded only where it holds.
std::optional<Finding> unsharded_weights(const Configuration& configuration, const BoundProgram& program,
                                         const std::vector<PartitionedBlock>& blocks,
                                         const std::vector<Collective>& collectives);

}  // namespace shardplan
