#pragma once
// How the copies of a block's layers lie on the devices of a pipeline.
#include <shardplan/program.hpp>

namespace shardplan {

/// Copies of a block's parameters that one device holds: its layers, or its pipeline stage's share of them.
std::int64_t layers_on_device(const Block& block, const PipelineShape& pipeline);

/// Layers whose copies of a parameter are one array: those at one place of the scan's cycle (gemma3's five local layers are
/// five arrays of as many layers as there are cycles); without a scan each is an array of its own.
std::int64_t layers_in_an_array(const Block& block, const PipelineShape& pipeline, const TrainConfig& config);

/// Whether all layer weights change places at the start of a step (cost_models/step/layer_stack.hpp): circular pipelines
/// that gather their weights once.
bool moves_layer_stack(const PipelineShape& pipeline, const TrainConfig& config);

/// Of what a stage's layers have as many elements, when the stages split the repeats: those that they don't divide are
/// padded (recorded: llama27bx8_v5p8_pp4fsdp2_once, two repeats over four stages).
std::int64_t elements_on_repeats(std::int64_t elements, const PipelineShape& pipeline);

}  // namespace shardplan
