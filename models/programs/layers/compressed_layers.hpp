#pragma once
// The layers of DeepSeek 4 (MaxText models/deepseek4.py): the first, hash-routed, one by one; then a scan whose
// iteration is a layer with long runs and one with short ones.
#include <models/programs/layers/layer.hpp>

namespace shardplan {

std::vector<LayerKind> compressed_layers(const Model& model);

}  // namespace shardplan
