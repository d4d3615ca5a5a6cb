#include <fmt/format.h>

#include <algorithm>
#include <initializer_list>
#include <planner/search/strategies.hpp>
#include <shardplan/error.hpp>

namespace shardplan {
namespace {

bool splits(const Mesh& mesh, AxisFamily family) { return !mesh.axes_of(family).empty(); }

bool splits_only(const Mesh& mesh, std::initializer_list<AxisFamily> families) {
  return std::all_of(mesh.axes.begin(), mesh.axes.end(), [&](const MeshAxis& axis) {
    return axis.size() == 1 || std::find(families.begin(), families.end(), family_of(axis.role)) != families.end();
  });
}

}  // namespace

std::string meshes_of(Strategy strategy) {
  if (strategy == Strategy::data_and_fsdp) return "data and fsdp alone";
  return fmt::format("{} parallelism", name_of(strategy));
}

bool uses(const Mesh& mesh, Strategy strategy) {
  switch (strategy) {
    case Strategy::data_and_fsdp:
      return splits_only(mesh, {AxisFamily::data, AxisFamily::fsdp});
    case Strategy::tensor:
      return splits(mesh, AxisFamily::tensor);
    case Strategy::context:
      return splits(mesh, AxisFamily::context);
    case Strategy::expert:
      return splits(mesh, AxisFamily::expert);
    case Strategy::pipeline:
      return splits(mesh, AxisFamily::stage);
  }
  throw InternalError("unknown Strategy");
}

bool uses(const Parallelism& parallelism, Strategy strategy) {
  const bool has_experts = parallelism.moe_path != MoePath::none;
  return (strategy != Strategy::expert || has_experts) && uses(parallelism.mesh, strategy);
}

}  // namespace shardplan
