#include <fmt/format.h>

#include <planner/cli/flags/form_flag.hpp>
#include <shardplan/error.hpp>

namespace shardplan {

void add_form_flag(CommandParser& parser, std::optional<std::string>& form) {
  parser.add("--as", form, "FORM", "The run alone: maxtext (command line), yaml (MaxText's), megatron (Megatron-LM's flags)");
}

std::optional<RunForm> read_form(const std::optional<std::string>& name) {
  if (!name) return std::nullopt;
  std::vector<std::string> names;
  for (const RunForm form : run_forms()) {
    if (name_of(form) == *name) return form;
    names.emplace_back(name_of(form));
  }
  throw InputError("--as: " + unknown_name("form", *name, names));
}

void check_form(std::optional<RunForm> form, Format format) {
  if (form && format != Format::text) throw InputError("--as prints a run, which --format json has under commands; give one of them");
}

}  // namespace shardplan
