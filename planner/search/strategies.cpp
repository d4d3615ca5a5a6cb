#include <fmt/format.h>

#include <algorithm>
#include <initializer_list>
#include <planner/search/strategies.hpp>
#include <shardplan/error.hpp>

namespace shardplan {
namespace {

bool splits(const Mesh& mesh, std::initializer_list<const char*> axes) {
  return std::any_of(axes.begin(), axes.end(), [&](const char* axis) { return mesh.size_of(axis) > 1; });
}

bool splits_only(const Mesh& mesh, std::initializer_list<const char*> axes) {
  return std::all_of(mesh.axes.begin(), mesh.axes.end(), [&](const MeshAxis& axis) {
    return axis.size() == 1 || std::find(axes.begin(), axes.end(), axis.name) != axes.end();
  });
}

}  // namespace

std::string_view name_of(Strategy strategy) {
  switch (strategy) {
    case Strategy::data_and_fsdp:
      return "data·fsdp";
    case Strategy::tensor:
      return "tensor";
    case Strategy::context:
      return "context";
    case Strategy::expert:
      return "expert";
    case Strategy::pipeline:
      return "pipeline";
  }
  throw InternalError("unknown Strategy");
}

std::string meshes_of(Strategy strategy) {
  if (strategy == Strategy::data_and_fsdp) return "data and fsdp alone";
  return fmt::format("{} parallelism", name_of(strategy));
}

bool uses(const Mesh& mesh, Strategy strategy) {
  switch (strategy) {
    case Strategy::data_and_fsdp:
      return splits_only(mesh, {"data", "fsdp", "fsdp_transpose"});
    case Strategy::tensor:
      return splits(mesh, {"tensor", "tensor_sequence"});
    case Strategy::context:
      return splits(mesh, {"context", "context_usp_ulysses"});
    case Strategy::expert:
      return splits(mesh, {"expert"});
    case Strategy::pipeline:
      return splits(mesh, {"stage"});
  }
  throw InternalError("unknown Strategy");
}

}  // namespace shardplan
