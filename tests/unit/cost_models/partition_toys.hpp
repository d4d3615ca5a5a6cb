#pragma once
// What the partitioner's tests share: meshes, specs and collectives as short texts, so that a test reads as a table.
//   spec("fsdp expert|-|tensor", mesh)     one entry a dim, major axis first, "-" for a whole dim
//   text(move, mesh)                       "all-gather fsdp+expert 64"
#include <fmt/format.h>

#include <cost_models/moves/reshard.hpp>
#include <shardplan/mesh/mesh.hpp>
#include <sstream>
#include <string>
#include <vector>

namespace shardplan {

inline const std::vector<std::string> toy_axes = {"data", "fsdp", "context", "tensor", "expert"};

inline Mesh toy_mesh(const std::string& sizes) { return parse_mesh(sizes, toy_axes); }

inline AxisList axes(const std::string& names, const Mesh& mesh) {
  AxisList list;
  std::istringstream words(names);
  for (std::string name; words >> name;)
    if (name != "-") list.push_back(mesh.find(name).value());
  return list;
}

inline PartitionSpec spec(const std::string& text, const Mesh& mesh) {
  PartitionSpec spec;
  std::istringstream stream(text);
  for (std::string dim; std::getline(stream, dim, '|');) spec.dims.push_back(axes(dim, mesh));
  return spec;
}

inline std::string names(const AxisList& list, const Mesh& mesh, const char* between) {
  std::string text;
  for (const AxisId axis : list) text += (text.empty() ? "" : between) + mesh.axes[axis].name;
  return text.empty() ? "-" : text;
}

inline std::string text(const PartitionSpec& spec, const Mesh& mesh) {
  std::string all;
  for (const auto& dim : spec.dims) all += (all.empty() ? "" : "|") + names(dim, mesh, " ");
  return all;
}

inline std::string text(const Moves& moves, const Mesh& mesh) {
  std::string all;
  for (const auto& move : moves)
    all += fmt::format("{}{} {} {}", all.empty() ? "" : ", ", name_of(move.kind), names(move.axes, mesh, "+"),
                       move.bytes.value);
  return all.empty() ? "nothing" : all;
}

/// One byte an element, so that bytes can be counted in the head.
inline Tensor toy_tensor(Dims dims) {
  Tensor tensor;
  tensor.name = "toy";
  tensor.dims = std::move(dims);
  tensor.dtype = DType::f8;
  return tensor;
}

}  // namespace shardplan
