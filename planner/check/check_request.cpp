#include <fmt/format.h>

#include <algorithm>
#include <arguments/flag_arguments.hpp>
#include <arguments/model_arguments.hpp>
#include <compilers/load_compiler.hpp>
#include <hardware/load_profile.hpp>
#include <models/load_model.hpp>
#include <models/model_names.hpp>
#include <models/moe_paths.hpp>
#include <planner/check/check_meshes.hpp>
#include <planner/check/check_request.hpp>
#include <shardplan/error.hpp>

namespace shardplan {
namespace {

bool is_same_text(const std::string& text, const std::string& other) { return text == other; }

/// What a flag, a KEY=VALUE word or the YAML file says, in this order; flag and word have to agree.
std::optional<std::string> agreed(const GivenArguments& given, const std::string& key,
                                  const std::optional<std::string>& flag, const std::string& flag_name,
                                  bool (*is_same)(const std::string&, const std::string&) = is_same_text) {
  const auto* argument = given.find(key);
  if (!argument) return flag;
  if (!argument->in_file && flag && !is_same(*flag, argument->text))
    throw InputError(fmt::format("{}: {} {} is asked for too", argument->place, flag_name, *flag));
  return flag ? flag : argument->text;
}

/// A model whose own rules replace every other says nothing about the set that is checked.
bool is_swept(const Model& model) { return model.not_modelled.empty() && !model.rules.override_rules; }

std::vector<Model> swept_models() {
  std::vector<Model> models;
  for (const auto& name : model_names())
    if (Model model = load_model(name); is_swept(model)) models.push_back(std::move(model));
  return models;
}

std::vector<Model> asked_models(const std::optional<std::string>& name) {
  return name ? std::vector<Model>{named_model(*name)} : swept_models();
}

/// base.yml's capacity_factor is no path that is modelled.
bool lacks_capacity(const GivenArguments& given) {
  return !given.flag("sparse_matmul", true) && !given.find("capacity_factor");
}

/// A valid first mesh for rules without the axes that take what is left over: everything on one axis.
void put_on_one_axis(MeshArguments& sizes, const RuleSet& rules, const GivenArguments& given) {
  const std::string data(name_of(AxisRole::data)), fsdp(name_of(AxisRole::fsdp));
  const bool has_data = has_axis(rules.mesh_axes, AxisRole::data), has_fsdp = has_axis(rules.mesh_axes, AxisRole::fsdp);
  if (!has_fsdp) set_size_inside(sizes, {has_data ? data : rules.mesh_axes.front(), -1}, given);
  if (has_data) return;
  sizes.dcn.at(fsdp) = -1;
  sizes.dcn.at(data) = 1;
}

MeshArguments read_sizes(const GivenArguments& given, const std::vector<AskedAxis>& mesh, const RuleSet& rules) {
  MeshArguments sizes = read_mesh_arguments(given);
  if (mesh.empty()) return sizes;
  for (const auto& axis : asked_mesh(mesh, rules.mesh_axes).axes)
    if (axis.size() > 1 || axis.role == AxisRole::fsdp) set_size_inside(sizes, {axis.name, axis.size()}, given);
  return sizes;
}

/// As many chips as the devices need, where nothing says how many.
Machine machine_for(const GivenArguments& given, MachineChoice choice, int devices) {
  if (!given.find("compile_topology")) {
    if (!choice.hardware) choice.hardware = reference_machine;
    choice = with_machine_named(std::move(choice), choice.slices.value_or(1));
    if (!choice.chips) choice.chips = std::max(1, devices / load_profile(*choice.hardware).devices_per_chip);
  }
  return read_machine(given, choice);
}

std::vector<Machine> machines_for(const GivenArguments& given, const CheckWords& words, const MeshArguments& sizes,
                                  bool gives_mesh) {
  if (gives_mesh) return {machine_for(given, words.machine, devices_asked_for(sizes))};
  const bool is_sized = with_machine_named(words.machine, words.machine.slices.value_or(1)).chips.has_value();
  if (is_sized || given.find("compile_topology")) return {machine_for(given, words.machine, 1)};
  std::vector<Machine> machines;
  for (const int devices : check_device_counts()) machines.push_back(machine_for(given, words.machine, devices));
  return machines;
}

}  // namespace

CheckRequest read_check(const CheckWords& words) {
  GivenArguments given(words.key_values, words.config_file);
  if (lacks_capacity(given)) given.add(fmt::format("capacity_factor={}", usual_capacity_factor));
  std::string name = agreed(given, "custom_mesh_and_rule", words.rules, "--rules").value_or("");
  if (name.empty()) name = "default";
  RulePlaces places(name, given.rules_path());
  const auto model = agreed(given, "model_name", words.model, "--model", are_one_model);
  const bool gives_mesh = words.mesh || gives_sizes(given);
  const auto mesh = words.mesh ? read_axes(*words.mesh) : std::vector<AskedAxis>{};
  MeshArguments sizes = read_sizes(given, mesh, places.chosen());
  auto machines = machines_for(given, words, sizes, gives_mesh);
  const bool spans_slices = !mesh.empty() && machines.front().num_slices > 1;
  if (spans_slices) sizes = read_mesh_arguments(given);
  if (!gives_mesh) put_on_one_axis(sizes, places.chosen(), given);
  auto models = asked_models(model);
  AskedRun run{given,
               models.front(),
               places.chosen(),
               machines.front(),
               compiler_of(machines.front().hardware, given_flags(given).value_or("")),
               read_program(given, words.machine),
               std::move(sizes)};
  if (spans_slices) run = on_mesh(std::move(run), mesh);
  return {std::move(places), machines.front().hardware.name, std::move(models), std::move(run), std::move(machines),
          gives_mesh,        model && gives_mesh};
}

}  // namespace shardplan
