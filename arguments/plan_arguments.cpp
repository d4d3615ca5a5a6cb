#include <fmt/format.h>

#include <arguments/flag_arguments.hpp>
#include <arguments/model_arguments.hpp>
#include <arguments/passed_arguments.hpp>
#include <arguments/plan_arguments.hpp>
#include <arguments/rule_arguments.hpp>
#include <arguments/settings/train_arguments.hpp>
#include <arguments/start_checks.hpp>
#include <arguments/words/argument_values.hpp>
#include <compilers/load_compiler.hpp>
#include <rules/load_rules.hpp>
#include <shardplan/error.hpp>

namespace shardplan {
namespace {

/// MaxText starts with stripes on some meshes alone, and a search looks at others, too.
void check_order(const GivenArguments& arguments) {
  const auto* given = arguments.find("context_parallel_reorder_strategy");
  if (given && canonical(given->text) == "striped")
    throw InputError(fmt::format("{}: {}", given->place, leave_order_to_auto));
}

}  // namespace

PlanRequest with_arguments(PlanRequest request, const GivenArguments& arguments) {
  check_order(arguments);
  ChosenModel chosen = changed_model(std::move(request.model), arguments, ModelFileWins::never);
  request.model = std::move(chosen.model);
  request.model_overrides = std::move(chosen.overrides);
  const std::string flags = given_flags(arguments).value_or("");
  for (const auto& machine : request.machines)
    request.compilers[machine.compiler] =
        compiler_of_plan(arguments, load_compiler(machine.compiler, flags), request.model.has_experts());
  request.passed_arguments = take_passed_arguments(arguments, request.model);
  request.settings = read_settings(arguments, request.model);
  request.rule_changes = changes_in_force(arguments, load_rules("default"), request.model);
  return request;
}

}  // namespace shardplan
