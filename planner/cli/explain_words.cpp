#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <arguments/keys/argument_table.hpp>
#include <planner/cli/explain_words.hpp>
#include <planner/cli/flag_values.hpp>
#include <arguments/model_arguments.hpp>
#include <arguments/rule_arguments.hpp>
#include <shardplan/error.hpp>

namespace shardplan {
namespace {

Words named_words(const ExplainFlags& flags) {
  Words words = flags.key_values;
  if (flags.model) words.push_back("model_name=" + *flags.model);
  if (flags.rules && *flags.rules != "default") words.push_back("custom_mesh_and_rule=" + *flags.rules);
  return words;
}

// MaxText's base.yml has `stage` in no mesh until there is more than one; the axis is valid in --mesh all the same.
bool names_stages(const std::string& mesh) { return mesh.starts_with("stage=") || mesh.find(",stage=") != mesh.npos; }

Mesh spread_over(Mesh mesh, int slices) {
  if (slices == 1) return mesh;
  const auto spans =
      std::find_if(mesh.axes.begin(), mesh.axes.end(), [&](const MeshAxis& axis) { return axis.ici % slices == 0; });
  if (spans == mesh.axes.end())
    throw InputError(fmt::format("--mesh {}: no axis is a multiple of the {} slices", describe(mesh), slices));
  spans->ici /= slices;
  spans->dcn = slices;
  return mesh;
}

bool has_flag(const std::string& axis) {
  const auto rows = axis_arguments();
  return std::any_of(rows.begin(), rows.end(), [&](const AxisArgument& row) { return row.axis == axis; });
}

Words mesh_words(const Mesh& mesh) {
  Words words;
  for (const auto& axis : mesh.axes) {
    if (!has_flag(axis.name)) continue;
    words.push_back(fmt::format("{}={}", axis_key("ici", axis.name), axis.ici));
    words.push_back(fmt::format("{}={}", axis_key("dcn", axis.name), axis.dcn));
  }
  return words;
}

Mesh read_mesh(const ExplainFlags& flags, const Words& named) {
  const GivenArguments arguments(named, flags.config_file);
  const ChosenModel chosen = read_model(arguments);
  const RuleSet rules =
      read_rules(arguments, chosen.model, read_rule_changes(arguments, chosen.model), names_stages(*flags.mesh));
  const Machine machine = read_machine(arguments, read_machine_choice(flags));
  return spread_over(parse_mesh(*flags.mesh, rules.mesh_axes), machine.num_slices);
}

std::optional<StepProgram> read_step_program(const ExplainFlags& flags) {
  constexpr std::array programs = {StepProgram::train, StepProgram::train_compile};
  if (!flags.program) return std::nullopt;
  std::vector<std::string> names;
  for (const StepProgram program : programs) {
    if (name_of(program) == *flags.program) return program;
    names.emplace_back(name_of(program));
  }
  throw InputError("--program: " + unknown_name("program", *flags.program, names));
}

}  // namespace

MachineChoice read_machine_choice(const ExplainFlags& flags) {
  return {flags.hardware, parse_positive("--chips", flags.chips), parse_positive("--slices", flags.slices),
          read_step_program(flags)};
}

Words explain_words(const ExplainFlags& flags) {
  Words words = named_words(flags);
  if (!flags.mesh) return words;
  const Words sizes = mesh_words(read_mesh(flags, words));
  words.insert(words.end(), sizes.begin(), sizes.end());
  return words;
}

}  // namespace shardplan
