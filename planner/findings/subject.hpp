#pragma once
// What a finding is read off, and the words and sums that findings share. Private to this room.
#include <algorithm>
#include <cost_models/layouts/layout.hpp>
#include <cost_models/partition/partitioned_block.hpp>
#include <initializer_list>
#include <shardplan/collective/traffic.hpp>
#include <shardplan/configuration.hpp>
#include <shardplan/evaluation.hpp>
#include <string>
#include <string_view>
#include <vector>

namespace shardplan {

struct FindingSubject {
  const Configuration& configuration;
  const BoundProgram& program;
  const std::vector<PartitionedBlock>& blocks;
  const Evaluation& evaluation;

  /// The operation or tensor that a collective is about; null: none.
  const Operation* operation_of(const Collective& collective) const;
  const Tensor* tensor_of(const Collective& collective) const;
  /// The collective with its place and reason in words.
  NamedCollective named(const Collective& collective) const;

  const Mesh& mesh() const { return configuration.mesh; }
  const RuleSet& rules() const { return configuration.rules; }
  const TrainConfig& config() const { return configuration.config; }
};

/// The collectives that `matches`.
template <class Matches>
Traffic traffic_of(const FindingSubject& subject, Matches matches) {
  return traffic_of(subject.evaluation.collectives, matches);
}

std::string in_words(const Traffic& traffic);  ///< "45.1 GB and 120 ms a step"

bool overlap(const AxisList& a, const AxisList& b);
/// Moves an expert's weights, or sums their gradients.
bool is_expert_weight(const Collective& collective, const FindingSubject& subject);
/// The same of wo alone.
bool is_expert_output_weight(const Collective& collective, const FindingSubject& subject);
/// Of an operation of this kind.
bool is_of(OpKind kind, const Collective& collective, const FindingSubject& subject);
/// Of a circular pipeline's layer stack (cost_models/step/layer_stack.hpp).
bool is_of_layer_stack(const Collective& collective);

/// The rules of these names, in priority order.
std::vector<Rule> rules_named(const RuleSet& rules, std::initializer_list<std::string_view> names);

}  // namespace shardplan
