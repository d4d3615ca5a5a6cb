#pragma once
// Layers with n-gram memory stand beside the scans, which they cut in pieces (MaxText layers/nnx_decoders.py:
// _apply_interleaved_scanned_layers).
#include <models/programs/layers/layer.hpp>

namespace shardplan {

/// The stacks in order, `model.engram_layers` taken out of them, each with the memory before its attention.
std::vector<LayerKind> with_engrams(std::vector<LayerKind> stacks, const Model& model);

}  // namespace shardplan
