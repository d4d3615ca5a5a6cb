#include <arguments/flag_arguments.hpp>
#include <arguments/keys/argument_table.hpp>
#include <arguments/passed_arguments.hpp>
#include <arguments/plan_arguments.hpp>
#include <arguments/rule_arguments.hpp>
#include <arguments/settings/train_arguments.hpp>
#include <compilers/load_compiler.hpp>
#include <models/model_overrides.hpp>
#include <rules/load_rules.hpp>

namespace shardplan {
namespace {

std::vector<ModelOverride> read_dims(const GivenArguments& arguments) {
  std::vector<ModelOverride> dims;
  for (const auto& [key, argument] : arguments.all())
    if (role_of(key) == ArgumentRole::model_dim)
      dims.emplace_back(key, std::get<std::int64_t>(argument.value));
  return dims;
}

}  // namespace

PlanRequest with_arguments(PlanRequest request, const GivenArguments& arguments) {
  request.model_overrides = read_dims(arguments);
  request.model = with_overrides(std::move(request.model), request.model_overrides);
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
