// What multi-token prediction asks for (MaxText layers/multi_token_prediction.py and layers/nnx_decoders.py;
// configs/types.py, the checks of context_parallel_strategy).
#include <fmt/format.h>

#include <planner/constraints/constraints.hpp>
#include <planner/constraints/violation.hpp>
#include <rules/sequence_axis.hpp>

namespace shardplan {
namespace {

Infeasible unpredicted(std::string message) { return {ConstraintId::multi_token_prediction, std::move(message), 1, 0}; }

// Cycles without a scan: gpt_oss's and olmo3's class wants to be told which layer of the cycle it is, which nobody does;
// llama4 and envy make a dense layer.
Violation cycles_are_scanned(const Configuration& c) {
  if (c.model.decoder_block.predicting != PredictingLayer::scanned_cycle || c.config.scan_layers) return std::nullopt;
  return unpredicted(fmt::format("mtp_num_layers with scan_layers=false: MaxText has no such layer of {}, or another one, "
                                 "which is not modelled: set scan_layers=true",
                                 c.model.decoder_block.name));
}

// MultiTokenPredictionBlock: a token's next neighbour is another's after the swap; deeper layers lose documents' ends.
Violation sequence_keeps_its_order(const Configuration& c) {
  const std::string_view axis = sequence_axis(c.rules);
  const int shards = c.mesh.size_of(axis);
  if (shards == 1) return std::nullopt;
  if (c.config.context_parallel_load_balance)
    return unpredicted(
        fmt::format("mtp_num_layers with {}={}: MaxText wants context_parallel_load_balance=false", axis, shards));
  if (c.config.packing && c.model.mtp_num_layers > 1)
    return unpredicted(fmt::format("mtp_num_layers={} with {}={}: MaxText takes 1 of packed documents: set packing=false",
                                   c.model.mtp_num_layers, axis, shards));
  if (c.config.context_parallel_strategy == ContextStrategy::usp)
    return unpredicted("mtp_num_layers: context_parallel_strategy=usp does not know it");
  return std::nullopt;
}

}  // namespace

std::optional<Infeasible> token_prediction_violation(const Configuration& c) {
  if (c.model.mtp_num_layers == 0) return std::nullopt;
  return first_violation_of({cycles_are_scanned, sequence_keeps_its_order}, c);
}

}  // namespace shardplan
