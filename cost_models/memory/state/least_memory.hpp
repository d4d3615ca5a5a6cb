#pragma once
// What a device holds at least: parameters, the optimizer's moments, and the gradients of all layers, which are there when
// their backward pass ends. Arithmetic over the weights alone, so that a search need not cost what can't fit.
#include <shardplan/bound_program.hpp>
#include <shardplan/train_config.hpp>

namespace shardplan {

/// Of a whole program, each once, gradients in the narrowest type that they may have: of the memory of all devices together
/// no layout takes less.
Bytes least_memory(const Program& program, const TrainConfig& config);

/// What one device holds of it at least, under any remat policy, with any batch and schedule of a pipeline of as many
/// stages. memory_use is no less: it has padding, batch and activations besides.
/// A weight of 8192 x 28672 split over fsdp=8, adamw in float32, gradient no less than bfloat16: 14 bytes of 29,360,128
/// numbers, 411 MB a layer.
Bytes least_memory(const BoundProgram& program, const TrainConfig& config);

}  // namespace shardplan
