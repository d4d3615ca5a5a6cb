#pragma once
// Which layers a model's decoder is made of.
#include <models/programs/layers/layer.hpp>

namespace shardplan {

/// The stacks in order: deepseek's first dense layers, then the rest; layers of different windows are counted apart.
std::vector<LayerKind> layer_kinds(const Model& model);

}  // namespace shardplan
