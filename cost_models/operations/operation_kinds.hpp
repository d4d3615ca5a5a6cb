#pragma once
// The list of kinds, one function a kind. Private to this room.
#include <cost_models/operations/operation_kind.hpp>

namespace shardplan {

const OperationKind& einsum_kind();         // einsum.cpp
const OperationKind& elementwise_kind();    // elementwise.cpp
const OperationKind& add_kind();            // elementwise.cpp
const OperationKind& normalization_kind();  // normalization.cpp
const OperationKind& constrain_kind();      // constrain.cpp
const OperationKind& attention_kind();      // attention/attention.cpp
const OperationKind& lookup_kind();         // lookup.cpp
const OperationKind& cross_entropy_kind();  // cross_entropy.cpp
const OperationKind& routing_kind();        // routing.cpp
const OperationKind& ragged_dispatch_kind();  // ragged_exchange.cpp
const OperationKind& ragged_return_kind();    // ragged_exchange.cpp
const OperationKind& ring_dispatch_kind();    // ring_exchange.cpp
const OperationKind& ring_return_kind();      // ring_exchange.cpp
const OperationKind& delta_rule_kind();       // delta_rule.cpp
const OperationKind& key_selection_kind();    // attention/key_selection.cpp
const OperationKind& split_batch_kind();      // batch_parts.cpp
const OperationKind& merge_batch_kind();      // batch_parts.cpp

}  // namespace shardplan
