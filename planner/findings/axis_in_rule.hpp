#pragma once
// An axis offered to a rule that leaves it out.
#include <shardplan/mesh/sharding.hpp>
#include <string>
#include <vector>

namespace shardplan {

/// Of experts' weights, and of what they compute.
inline constexpr const char* rules_of_experts[] = {"exp", "activation_exp"};

/// Of the tokens that the dropping path sends to experts: their batch, and their experts.
inline constexpr const char* rules_of_dispatch[] = {"activation_batch_moe", "activation_exp"};

/// How many rules have the name.
int count_rules(const RuleSet& rules, const std::string& logical);

/// Whether the first rule of that name has the axis.
bool names_axis(const RuleSet& rules, const std::string& logical, const std::string& axis);

/// The rule with the axis among its own, in the order of the mesh; as it is if it has it.
Rule with_axis(Rule rule, const std::string& axis, const std::vector<std::string>& mesh_axes);

struct AxisOffer {
  Rule rule;              ///< as it is now; one without axes where no rule has the name
  bool is_known = false;  ///< there is such a rule
  std::string words;      ///< "add 'tensor' to rule mlp: ['mlp', ['tensor']]", "add ['mlp', ['tensor']] to the rules"
};
AxisOffer offer_axes(const RuleSet& rules, const std::string& logical, const std::vector<std::string>& axes);

}  // namespace shardplan
