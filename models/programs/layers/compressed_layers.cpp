#include <fmt/format.h>

#include <models/programs/layers/compressed_layers.hpp>
#include <models/programs/mixers/mixers.hpp>

namespace shardplan {
namespace {

// models/deepseek4.py: DeepSeek4ScannableBlock has these two, whatever compress_ratios says.
constexpr std::int64_t scanned_ratios[] = {128, 4};

std::vector<Branch> branches(std::int64_t ratio, const Mixer& experts) {
  return {{[ratio](BlockBuilder& b, TensorId x) { return add_compressed_attention(b, x, ratio); },
           HyperConnection::attention, "pre_self_attention_layer_norm", "", "residual after attention"},
          {experts, HyperConnection::feed_forward, "post_self_attention_layer_norm", "", "layer output"}};
}

}  // namespace

std::vector<LayerKind> compressed_layers(const Model& model) {
  std::vector<LayerKind> kinds;
  for (std::int64_t i = 0; i < model.hash_layers; ++i) {
    LayerKind kind{fmt::format("layers_{}", i),
                   branches(model.compress_ratios[static_cast<std::size_t>(i)], add_hash_routed_experts)};
    kind.unscanned = true;
    kinds.push_back(std::move(kind));
  }
  const std::int64_t cycles = (model.layers - model.hash_layers) / 2;
  for (const std::int64_t ratio : scanned_ratios)
    if (cycles > 0)
      kinds.push_back({fmt::format("scanned_layers_{}", ratio), branches(ratio, add_mixture_of_experts), cycles, 1,
                       ratio != scanned_ratios[0]});
  return kinds;
}

}  // namespace shardplan
