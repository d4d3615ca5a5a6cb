#include <fmt/format.h>

#include <array>
#include <planner/findings/subject.hpp>
#include <planner/words/collective_words.hpp>

namespace shardplan {
namespace {

bool moves_or_sums(const Collective& c) {
  return c.parameter || c.kind == CollectiveKind::reduce_scatter || c.kind == CollectiveKind::all_reduce;
}

}  // namespace

const Operation* FindingSubject::operation_of(const Collective& c) const {
  return c.operation < 0 ? nullptr : &program.program->blocks.at(c.block).operations.at(c.operation);
}

const Tensor* FindingSubject::tensor_of(const Collective& c) const {
  return c.tensor < 0 ? nullptr : &program.program->blocks.at(c.block).tensors.at(c.tensor);
}

NamedCollective FindingSubject::named(const Collective& c) const {
  LayoutView view{*program.program, {}};
  for (const auto& block : blocks) view.specs.emplace_back(block.specs());
  return in_words(c, view, mesh());
}

std::string in_words(const Traffic& traffic) {
  return fmt::format("{} and {} a step", in_words(traffic.bytes), in_words(traffic.seconds));
}

bool overlap(const AxisList& a, const AxisList& b) {
  return !common(a, b).empty();
}

bool is_expert_weight(const Collective& c, const FindingSubject& s) {
  const Operation* op = s.operation_of(c);
  const bool product = op && op->role == OperationRole::expert_projection;
  const Tensor* tensor = op ? nullptr : s.tensor_of(c);
  const bool weight = tensor && tensor->role == TensorRole::expert_input_weight;
  return ((product || weight) && moves_or_sums(c)) || is_expert_output_weight(c, s);
}

bool is_expert_output_weight(const Collective& c, const FindingSubject& s) {
  const Operation* op = s.operation_of(c);
  const bool product = op && op->role == OperationRole::expert_output;
  const Tensor* tensor = op ? nullptr : s.tensor_of(c);
  const bool weight = tensor && tensor->role == TensorRole::expert_output_weight;
  return (product || weight) && moves_or_sums(c);
}

bool is_of(OpKind kind, const Collective& c, const FindingSubject& s) {
  const Operation* op = s.operation_of(c);
  return op && op->kind == kind;
}

bool is_of_layer_stack(const Collective& c) {
  constexpr std::array causes = {Cause::stack_to_repeats, Cause::stack_to_stages, Cause::stack_gradients,
                                 Cause::stack_moment_to_data, Cause::stack_moment_to_stages};
  return std::find(causes.begin(), causes.end(), c.cause) != causes.end();
}

std::vector<Rule> rules_named(const RuleSet& rules, std::initializer_list<std::string_view> names) {
  std::vector<Rule> found;
  for (const auto& rule : rules.rules)
    if (std::find(names.begin(), names.end(), rule.logical) != names.end()) found.push_back(rule);
  return found;
}

}  // namespace shardplan
