#pragma once
// The logits of a head: the largest buffer of many steps, and what their gradient takes beside them.
#include <cost_models/layouts/layout.hpp>
#include <cost_models/partition/data_flow.hpp>
#include <shardplan/compiler/compiler.hpp>
#include <shardplan/program.hpp>
#include <shardplan/units.hpp>
#include <vector>

namespace shardplan {

/// Elementwise work whose result only the loss reads (capped logits): the loss computes it, forward and backward.
bool is_part_of_loss(const Block& block, const DataFlow& flow, const Operation& op);

/// Whether the products that read the gradient of the logits compute it from them, and it takes no buffer of its own:
/// Habit::overwrites_logits or, behind a cap, overwrites_capped_logits, at as many sequences and tokens as this device has.
/// `specs`: one a tensor. 3072 tokens of a model of 2880 are 1.07 for each.
bool writes_over_logits(const Block& head, const DataFlow& flow, const std::vector<PartitionSpec>& specs, const Mesh& mesh,
                        const Compiler& compiler);

/// Of how many sequences (or parts of them) a device has logits; 0: the head makes none.
std::int64_t sequences_of_logits(const Block& head, const std::vector<PartitionSpec>& specs, const Mesh& mesh);

/// Logits that wait until the layers have run backward, for the loss's value (Habit::computes_loss_value_late): those of
/// words split over devices, where one has more words than the model's width and the head's weight isn't gathered; of
/// capped ones (Habit::computes_capped_loss_value_late) where it is.
Bytes logits_for_loss_value(const Block& head, const DataFlow& flow, const std::vector<PartitionSpec>& specs,
                            const Mesh& mesh, const Compiler& compiler);

/// Whether such logits and their gradient exist beside each other: it is a kernel's, and can't be written over them.
bool copies_waiting_logits(const Block& head, const DataFlow& flow, const std::vector<PartitionSpec>& specs,
                           const Mesh& mesh, const Compiler& compiler);

}  // namespace shardplan
