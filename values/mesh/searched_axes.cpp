#include <algorithm>
#include <iterator>
#include <shardplan/mesh/searched_axes.hpp>

namespace shardplan {
namespace {

constexpr SearchedAxis searched_axes[] = {
    {"data", true, false},         {"fsdp", true, false},   {"fsdp_transpose", false, true},
    {"context", false, false},     {"tensor", true, false}, {"tensor_sequence", false, true},
    {"expert", true, false},
};

}  // namespace

const SearchedAxis* searched_axis(std::string_view name, const Model& model) {
  const auto axis = std::find_if(std::begin(searched_axes), std::end(searched_axes),
                                 [&](const SearchedAxis& one) { return one.name == name; });
  if (axis == std::end(searched_axes) || (name == "expert" && !model.has_experts())) return nullptr;
  return &*axis;
}

}  // namespace shardplan
