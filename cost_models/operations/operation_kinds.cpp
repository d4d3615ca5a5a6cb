#include <cost_models/operations/operation_kinds.hpp>
#include <shardplan/error.hpp>

namespace shardplan {

const OperationKind& operation_kind(OpKind kind) {
  switch (kind) {
    case OpKind::einsum:
      return einsum_kind();
    case OpKind::elementwise:
      return elementwise_kind();
    case OpKind::add:
      return add_kind();
    case OpKind::normalization:
      return normalization_kind();
    case OpKind::constrain:
      return constrain_kind();
    case OpKind::attention:
      return attention_kind();
    case OpKind::lookup:
      return lookup_kind();
    case OpKind::cross_entropy:
      return cross_entropy_kind();
    case OpKind::routing:
      return routing_kind();
    case OpKind::ragged_dispatch:
      return ragged_dispatch_kind();
    case OpKind::ragged_return:
      return ragged_return_kind();
    case OpKind::ring_dispatch:
      return ring_dispatch_kind();
    case OpKind::ring_return:
      return ring_return_kind();
    case OpKind::delta_rule:
      return delta_rule_kind();
    case OpKind::key_selection:
      return key_selection_kind();
    case OpKind::split_batch:
      return split_batch_kind();
    case OpKind::merge_batch:
      return merge_batch_kind();
  }
  throw InternalError("unknown OpKind");
}

}  // namespace shardplan
