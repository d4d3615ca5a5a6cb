#include <fmt/format.h>

#include <algorithm>
#include <formats/read_figure.hpp>
#include <hardware/parts/read_grouped_kernels.hpp>

namespace shardplan {
namespace {

template <std::size_t count>
std::array<std::int64_t, count> sizes(StrictObject& object, const std::string& key) {
  const nlohmann::json& given = object.array(key);
  std::array<std::int64_t, count> all;
  if (given.size() != count) object.fail(key, fmt::format("{} sizes", count));
  for (std::size_t i = 0; i < count; ++i) {
    if (!given[i].is_number_integer() || given[i].get<std::int64_t>() < 1) object.fail(key, "whole numbers from 1 on");
    all[i] = given[i].get<std::int64_t>();
  }
  return all;
}

TunedTiles read_tuned(StrictObject object) {
  const auto [rows, contracted, columns, groups] = sizes<4>(object, "product");
  TunedTiles tuned{rows, contracted, columns, groups, sizes<3>(object, "forward"), sizes<3>(object, "input_gradient"),
                   sizes<3>(object, "weight_gradient")};
  object.finish();
  return tuned;
}

bool is_same_product(const TunedTiles& a, const TunedTiles& b) {
  return a.rows == b.rows && a.contracted == b.contracted && a.columns == b.columns && a.groups == b.groups;
}

}  // namespace

GroupedKernels read_grouped_kernels(StrictObject object) {
  GroupedKernels kernels;
  kernels.step = read_figure(object, "step", Dimension::seconds);
  kernels.tile_memory = read_figure(object, "tile_memory", Dimension::bytes);
  for (const auto& value : object.array("tuned")) {
    const auto where = fmt::format("{}.tuned[{}]", object.where(), kernels.tuned.size());
    const TunedTiles tuned = read_tuned(StrictObject(value, where));
    const auto is_it = [&](const TunedTiles& other) { return is_same_product(tuned, other); };
    if (std::any_of(kernels.tuned.begin(), kernels.tuned.end(), is_it)) object.fail("tuned", "each product once");
    kernels.tuned.push_back(tuned);
  }
  kernels.source = object.text("source");
  object.finish();
  return kernels;
}

}  // namespace shardplan
