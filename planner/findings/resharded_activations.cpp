#include <fmt/format.h>

#include <algorithm>
#include <cost_models/layouts/layout.hpp>
#include <planner/findings/axis_in_rule.hpp>
#include <planner/findings/resharded_activations.hpp>
#include <shardplan/units.hpp>

namespace shardplan {
namespace {

/// A logical name that could have an axis, and what is exchanged because another dim has it.
struct Exchange {
  AxisId axis;
  std::string logical;
  std::string holder;  ///< the name whose rule gives it to the other dim; empty: no constraint does
  const Collective* first;
  Dim wanted, other;  ///< of the first
  Bytes moved;           ///< by all
  Seconds taken;
};

/// Activations that operations or constraints want otherwise; experts' tokens and stages' are meant to move.
bool is_between_layouts(const Collective& c) {
  const bool of_layouts = c.cause == Cause::operand_layout || c.cause == Cause::result_layout;
  return c.kind == CollectiveKind::all_to_all && of_layouts && !c.parameter && c.tensor >= 0;
}

/// Of two rules that name an axis the first takes it.
bool comes_first(const RuleSet& set, const std::string& logical, const std::string& other) {
  const auto place = [&](const std::string& name) {
    return std::find_if(set.rules.begin(), set.rules.end(), [&](const Rule& rule) { return rule.logical == name; });
  };
  return place(logical) < place(other);
}

class Exchanges {
 public:
  Exchanges(const Configuration& configuration, const LaidOutProgram& program) : c_(configuration), program_(program) {}

  void add(const Collective& collective) {
    for (const AxisId axis : collective.axes) {
      const int from = place_of(axis, collective.from.spec), to = place_of(axis, collective.to);
      if (from < 0 || to < 0 || from == to) continue;
      add(collective, axis, to, from);
      add(collective, axis, from, to);
    }
  }
  const std::vector<Exchange>& found() const { return found_; }

 private:
  bool names(const std::string& logical, AxisId axis) const {
    return names_axis(c_.rules, logical, c_.mesh.axes[axis].name);
  }

  /// `dim` could have the axis, too, `other` is where it lies before or after.
  void add(const Collective& collective, AxisId axis, int dim, int other) {
    const Tensor& tensor = program_.program.blocks[collective.block].tensors[collective.tensor];
    if (tensor.constraint.axes.empty()) return;
    const std::string logical(tensor.constraint.axes[dim]), holder(tensor.constraint.axes[other]);
    const bool is_too_late = names(holder, axis) && comes_first(c_.rules, holder, logical);
    if (logical.empty() || (names(logical, axis) && !is_too_late)) return;
    auto known = std::find_if(found_.begin(), found_.end(), [&](const Exchange& exchange) {
      return exchange.axis == axis && exchange.logical == logical;
    });
    if (known == found_.end())
      known = found_.insert(known, {axis, logical, names(holder, axis) ? holder : "", &collective, tensor.dims[dim].dim,
                                    tensor.dims[other].dim, {}, {}});
    known->moved += collective.moved();
    known->taken += collective.seconds;
  }

  const Configuration& c_;
  const LaidOutProgram& program_;
  std::vector<Exchange> found_;
};

Finding finding_of(const Exchange& exchange, const Configuration& c, const LaidOutProgram& program) {
  const std::string& axis = c.mesh.axes[exchange.axis].name;
  const Block& block = program.program.blocks[exchange.first->block];
  const std::string& tensor = block.tensors[exchange.first->tensor].name;
  const AxisOffer offer = offer_axes(c.rules, exchange.logical, {axis});
  const bool has_axis = names_axis(c.rules, exchange.logical, axis);
  std::vector<Rule> rules = {offer.rule};
  std::string fix = has_axis ? "move rule " + exchange.logical : offer.words;
  if (!exchange.holder.empty()) {
    rules.push_back(offer_axes(c.rules, exchange.holder, {axis}).rule);
    const bool is_in_front = offer.is_known && comes_first(c.rules, exchange.logical, exchange.holder);
    if (!is_in_front) fix += fmt::format("{} in front of that of {}", has_axis ? "" : ",", exchange.holder);
  }
  const std::string why =
      has_axis ? fmt::format("comes behind that of {}, which takes '{}'", exchange.holder, axis)
               : fmt::format("leaves out '{}'{}", axis, offer.is_known ? "" : " (there is no such rule)");
  return {FindingId::activations_resharded,
          Severity::error,
          fmt::format("rule {} {}, so that '{}' is split along its {} over it, not its {}, and exchanged: {} a step with "
                      "others like it",
                      exchange.logical, why, tensor, name_of(exchange.other), name_of(exchange.wanted),
                      in_words(exchange.moved)),
          block.name + "/" + tensor,
          {axis},
          std::move(fix),
          std::move(rules)};
}

}  // namespace

std::vector<Finding> resharded_activations(const Configuration& configuration, const LaidOutProgram& program,
                                           const std::vector<Collective>& collectives, Seconds least) {
  Exchanges exchanges(configuration, program);
  for (const Collective& collective : collectives)
    if (is_between_layouts(collective)) exchanges.add(collective);
  std::vector<Finding> findings;
  for (const Exchange& exchange : exchanges.found())
    if (exchange.taken >= least) findings.push_back(finding_of(exchange, configuration, program));
  return findings;
}

}  // namespace shardplan
