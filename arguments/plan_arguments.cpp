#include <fmt/format.h>

#include <arguments/flag_arguments.hpp>
#include <arguments/keys/argument_table.hpp>
#include <arguments/model_arguments.hpp>
#include <arguments/passed_arguments.hpp>
#include <arguments/plan_arguments.hpp>
#include <arguments/rule_arguments.hpp>
#include <arguments/settings/train_arguments.hpp>
#include <arguments/start_checks.hpp>
#include <arguments/words/argument_values.hpp>
#include <compilers/load_compiler.hpp>
#include <models/model_overrides.hpp>
#include <rules/load_rules.hpp>
#include <shardplan/error.hpp>

namespace shardplan {
namespace {

std::vector<ModelOverride> read_dims(const GivenArguments& arguments, const Model& model) {
  std::vector<ModelOverride> dims;
  for (const auto& [key, argument] : arguments.all()) {
    if (role_of(key) != ArgumentRole::model_dim) continue;
    const auto value = std::get<std::int64_t>(argument.value);
    if (changes_model(model, key, value)) dims.emplace_back(key, value);
  }
  return dims;
}

/// MaxText starts with stripes on some meshes alone, and a search looks at others, too.
void check_order(const GivenArguments& arguments) {
  const auto* given = arguments.find("context_parallel_reorder_strategy");
  if (given && canonical(given->text) == "striped")
    throw InputError(fmt::format("{}: {}", given->place, leave_order_to_auto));
}

}  // namespace

PlanRequest with_arguments(PlanRequest request, const GivenArguments& arguments) {
  check_order(arguments);
  request.model_overrides = read_dims(arguments, request.model);
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
