#include <arguments/flag_arguments.hpp>
#include <arguments/model_arguments.hpp>
#include <arguments/passed_arguments.hpp>
#include <arguments/plan_arguments.hpp>
#include <arguments/rule_arguments.hpp>
#include <arguments/settings/train_arguments.hpp>
#include <arguments/start_checks.hpp>
#include <compilers/load_compiler.hpp>
#include <rules/load_rules.hpp>

namespace shardplan {

PlanRequest with_arguments(PlanRequest request, const GivenArguments& arguments) {
  ChosenModel chosen = changed_model(std::move(request.model), arguments);
  request.model = std::move(chosen.model);
  request.model_overrides = std::move(chosen.overrides);
  const std::string flags = given_flags(arguments).value_or("");
  for (const auto& machine : request.machines)
    request.compilers[machine.compiler] =
        compiler_of_plan(arguments, compiler_of(machine, flags), request.model.has_experts());
  request.passed_arguments = take_passed_arguments(arguments, request.model);
  request.start_conditions = start_conditions(arguments);
  request.settings = read_settings(arguments, request.model);
  check_settings(arguments, request.model, request.settings.config);
  request.rule_changes = changes_in_force(arguments, load_rules("default"), request.model);
  return request;
}

}  // namespace shardplan
