#include <fmt/format.h>

#include <algorithm>
#include <formats/named_value.hpp>
#include <hardware/parts/read_splash.hpp>

namespace shardplan {
namespace {

struct Compiled {
  SplashLibrary library;
  SplashKernel kernel;
};

constexpr std::array<Compiled, 6> compiled = {{
    {SplashLibrary::jax, SplashKernel::forward},
    {SplashLibrary::jax, SplashKernel::query_gradient},
    {SplashLibrary::jax, SplashKernel::key_value_gradient},
    {SplashLibrary::jax, SplashKernel::fused_gradient},
    {SplashLibrary::tokamax, SplashKernel::forward},
    {SplashLibrary::tokamax, SplashKernel::fused_gradient},
}};

template <std::size_t count>
std::array<double, count> numbers(StrictObject& object, const std::string& key, double least) {
  const nlohmann::json& given = object.array(key);
  constexpr double most = 1e9;  // cycles of a tile: a second of them
  std::array<double, count> all;
  if (given.size() != count) object.fail(key, fmt::format("{} numbers", count));
  for (std::size_t i = 0; i < count; ++i) {
    const double number = given[i].is_number() ? given[i].get<double>() : -1;
    if (!(number >= least && number <= most)) object.fail(key, fmt::format("numbers from {} to {}", least, most));
    all[i] = number;
  }
  return all;
}

std::array<double, 2> sizes(StrictObject& object, const std::string& key) {
  const auto pair = numbers<2>(object, key, 1);
  if (pair[0] >= pair[1]) object.fail(key, "a smaller size, then a larger one");
  return pair;
}

SplashCycles read_kernel(StrictObject object) {
  static constexpr std::array libraries = {SplashLibrary::jax, SplashLibrary::tokamax};
  static constexpr std::array kernels = {SplashKernel::forward, SplashKernel::query_gradient,
                                         SplashKernel::key_value_gradient, SplashKernel::fused_gradient};
  SplashCycles cycles;
  cycles.library = enumerator_named(libraries, "library", object.text("library"), object.where());
  cycles.kernel = enumerator_named(kernels, "kernel", object.text("kernel"), object.where());
  cycles.visited = numbers<8>(object, "visited", 1);
  cycles.masked = numbers<8>(object, "masked", 1);
  cycles.row = numbers<8>(object, "row", 0);
  cycles.step = numbers<8>(object, "step", 0);
  object.finish();
  return cycles;
}

}  // namespace

SplashTables read_splash_tables(StrictObject object) {
  SplashTables tables;
  tables.cores = object.count("cores", 1);
  tables.heads = sizes(object, "heads");
  tables.queries = sizes(object, "queries");
  tables.keys = sizes(object, "keys");
  tables.source = object.text("source");
  for (const auto& value : object.array("kernels"))
    tables.kernels.push_back(read_kernel(StrictObject(value, object.where() + ".kernels")));
  for (const auto& [library, kernel] : compiled) {
    const auto is_it = [&](const SplashCycles& c) { return c.library == library && c.kernel == kernel; };
    if (std::count_if(tables.kernels.begin(), tables.kernels.end(), is_it) != 1)
      object.fail("kernels", fmt::format("the {} kernel of {} once", name_of(kernel), name_of(library)));
  }
  if (tables.kernels.size() != compiled.size()) object.fail("kernels", "tokamax has forward and fused_gradient alone");
  object.finish();
  return tables;
}

}  // namespace shardplan
