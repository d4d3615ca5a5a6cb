#include <fmt/format.h>

#include <algorithm>
#include <models/programs/layers/engram_layers.hpp>
#include <models/programs/mixers/mixers.hpp>

namespace shardplan {
namespace {

LayerKind piece(LayerKind stack, std::int64_t first, std::int64_t count) {
  stack.name = fmt::format("{}_{}_{}", stack.name, first, first + count - 1);
  stack.count = count;
  return stack;
}

LayerKind with_memory(LayerKind stack, std::int64_t layer, std::size_t place) {
  stack.name = fmt::format("{}_engram_{}", stack.name, layer);
  stack.count = 1;
  stack.unscanned = true;
  Branch memory{[place](BlockBuilder& b, TensorId x) { return add_n_gram_memory(b, x, place); },
                HyperConnection::none, "engram_layer_norm", "", "residual after n-gram memory"};
  stack.branches.insert(stack.branches.begin(), std::move(memory));
  return stack;
}

}  // namespace

std::vector<LayerKind> with_engrams(std::vector<LayerKind> stacks, const Model& model) {
  const auto& layers = model.engram_layers;
  std::vector<LayerKind> kinds;
  std::int64_t begins = 0;
  for (const LayerKind& stack : stacks) {
    std::int64_t first = begins;
    const std::int64_t ends = begins + stack.count;
    for (std::int64_t layer = begins; layer < ends; ++layer) {
      const auto found = std::find(layers.begin(), layers.end(), layer);
      if (found == layers.end()) continue;
      if (layer > first) kinds.push_back(piece(stack, first, layer - first));
      kinds.push_back(with_memory(stack, layer, static_cast<std::size_t>(found - layers.begin())));
      first = layer + 1;
    }
    if (ends > first) kinds.push_back(piece(stack, first, ends - first));
    begins = ends;
  }
  return kinds;
}

}  // namespace shardplan
