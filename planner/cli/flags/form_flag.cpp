#include <formats/named_value.hpp>
#include <planner/cli/flags/form_flag.hpp>
#include <shardplan/error.hpp>

namespace shardplan {

void add_form_flag(CommandParser& parser, std::optional<std::string>& form) {
  parser.add("--as", form, "FORM", "The run alone: maxtext (command line), yaml (MaxText's), megatron (Megatron-LM's flags)",
             names_of(run_forms()));
}

std::optional<RunForm> read_form(const std::optional<std::string>& name) {
  if (!name) return std::nullopt;
  return enumerator_named(run_forms(), "form", *name, "--as");
}

void check_form(std::optional<RunForm> form, Format format) {
  if (form && format != Format::text)
    throw InputError("--as prints a run, which --format json has under commands; give one of them");
}

}  // namespace shardplan
