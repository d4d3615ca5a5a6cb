#pragma once
// One configuration: its findings, and what each costs against the configuration with that finding's fix.
#include <shardplan/configuration.hpp>
#include <shardplan/evaluation.hpp>

namespace shardplan {

struct CheckedConfiguration {
  Evaluation evaluation;            ///< its findings are costed, and say what MaxText would refuse
  std::optional<Evaluation> fixed;  ///< with the fix of its costliest finding
};

CheckedConfiguration check_configuration(const Configuration& configuration);
/// The same of what evaluate_to_show makes of it.
CheckedConfiguration check_evaluation(const Configuration& configuration, Evaluation evaluation);

}  // namespace shardplan
