#pragma once
// The gradient of a lookup: rows are added up to that of the table.
#include <cost_models/operations/operation_kind.hpp>

namespace shardplan {

void add_rows_to_table(BlockState& state, const Operation& op);

}  // namespace shardplan
