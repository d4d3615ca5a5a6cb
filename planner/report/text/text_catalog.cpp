#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <models/parameter_count.hpp>
#include <planner/report/humanize.hpp>
#include <planner/report/profile_figures.hpp>
#include <planner/report/text/text_catalog.hpp>
#include <planner/report/text/text_sections.hpp>
#include <planner/report/text/text_table.hpp>
#include <planner/report/wrap.hpp>
#include <rules/resolve.hpp>

namespace shardplan {
namespace {

std::string per_device(const Figure& figure, double unit) { return print_number(figure.value / unit); }

std::string slices_text(const std::vector<Slice>& slices) {
  if (slices.empty()) return "-";
  return fmt::format("{}..{}", slices.front().chips, print_count(slices.back().chips));
}

/// "671 B", "27.1 M", "56.4 k"
std::string weights_text(std::int64_t count) {
  constexpr std::pair<double, const char*> units[] = {{1e9, " B"}, {1e6, " M"}, {1e3, " k"}};
  const auto number = static_cast<double>(count);
  const auto unit = std::find_if(std::begin(units), std::end(units), [&](const auto& u) { return number >= 0.3 * u.first; });
  return unit == std::end(units) ? print_count(count) : print_number(number / unit->first) + unit->second;
}

std::vector<std::string> cells_of(const Model& model) {
  const bool known = model.not_modelled.empty();
  const std::string experts = model.has_experts() ? fmt::format("{} of {}", model.top_k, model.num_experts) : "-";
  return {model.name,
          std::string(model.decoder_block.name),
          std::to_string(model.layers),
          experts,
          known ? weights_text(parameters(model)) : "-",
          known ? weights_text(active_parameters(model)) : "-",
          known ? model.note : "not modelled: " + model.not_modelled};
}

std::string names_text(const std::vector<std::string>& names) { return fmt::format("{}", fmt::join(names, " ")); }

}  // namespace

std::string hardware_list_text(const std::vector<HardwareProfile>& machines, const Style& style) {
  TextTable table({{"machine"},
                   {"description", Align::left, true, 6, 16},
                   {"fabric", Align::left, false, 5},
                   {"bf16 TFLOP/s", Align::right},
                   {"HBM GiB", Align::right},
                   {"HBM GB/s", Align::right, false, 3},
                   {"link GB/s", Align::right, false, 4},
                   {"chips", Align::right, false, 2}});
  for (const auto& machine : machines)
    table.add({machine.name, machine.description, std::string(name_of(machine.fabric)),
               per_device(machine.peak_bf16, 1e12), per_device(machine.hbm_capacity, 1024.0 * 1024 * 1024),
               per_device(machine.hbm_bandwidth, 1e9), per_device(machine.link_bandwidth, 1e9),
               slices_text(machine.slices)});
  return table.print(style.width()) + "\n" +
         wrap_text("Rates and memory of a device, a link in one direction; chips of a slice or node.", "", style.width()) +
         wrap_text("`shardplan hardware show NAME` prints a profile with unit, source and basis of every figure.", "",
                   style.width());
}

std::string model_list_text(const std::vector<Model>& models, const Style& style) {
  TextTable table({{"model"},
                   {"decoder", Align::left, false, 3},
                   {"layers", Align::right, false, 2},
                   {"experts", Align::right, false, 1},
                   {"weights", Align::right},
                   {"active", Align::right},
                   {"note", Align::left, true, 4, 24}});
  for (const auto& model : models) table.add(cells_of(model));
  return table.print(style.width());
}

std::string rule_list_text(const std::vector<RuleSet>& sets, const Style& style) {
  TextTable table({{"rules"}, {"number", Align::right}, {"mesh axes", Align::left, true}});
  for (const auto& set : sets) table.add({set.name, std::to_string(set.rules.size()), names_text(set.mesh_axes)});
  return table.print(style.width());
}

std::string spec_text(const LogicalAxes& names, const PartitionSpec& spec, const Mesh& mesh, const Style& style) {
  TextTable table({{"dim"}, {"logical axis"}, {"mesh axes"}, {"parts", Align::right}});
  for (std::size_t dim = 0; dim < spec.dims.size(); ++dim)
    table.add({std::to_string(dim), std::string(names[dim].empty() ? "-" : names[dim]), axes_text(spec.dims[dim], mesh),
               print_count(mesh.product(spec.dims[dim]))});
  return describe(spec, mesh) + "\n\n" + table.print(style.width());
}

}  // namespace shardplan
