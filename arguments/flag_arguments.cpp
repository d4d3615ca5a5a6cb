#include <arguments/flag_arguments.hpp>

namespace shardplan {

std::optional<std::string> given_flags(const GivenArguments& arguments) {
  const GivenArgument* given = arguments.find("compile_xla_flags");
  if (!given || (given->in_file && given->text.empty())) return std::nullopt;
  return arguments.text("compile_xla_flags", "");
}

Compiler compiler_of_run(const GivenArguments& arguments, const Compiler& loaded, bool has_experts) {
  return given_flags(arguments) ? loaded : with_assumed_flags(loaded, has_experts);
}

Compiler compiler_of_plan(const GivenArguments& arguments, const Compiler& loaded, bool has_experts) {
  return given_flags(arguments) ? loaded : with_recipe_flags(loaded, has_experts);
}

}  // namespace shardplan
