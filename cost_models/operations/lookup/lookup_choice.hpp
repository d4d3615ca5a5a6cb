#pragma once
// Whether a lookup gathers its table or moves what it finds.
#include <cost_models/operations/operation_kind.hpp>

namespace shardplan {

/// The gradient of a lookup adds rows to a table of zeros: table and result, of which the larger of them and the rows keeps
/// an axis (as products are laid out, Habit::lays_out_products_by_size). Recorded on 7x: rows 2.04 to 3.1 times as large as
/// the table, and up to 1.73 times.
constexpr std::int64_t tables_of_gradient = 2;

/// XLA:TPU for 7x compares the table with the rows of all tokens, whatever would bring them.
bool outnumbers_table(const BlockState& state, const Operation& op);
/// Of its gradient each device keeps the words that it has; then it compares those.
bool outnumbers_gradient(const BlockState& state, const Operation& op);

/// Forward looked-up columns move or the table is gathered, backward columns of rows are added up or the gradient is summed
/// whole, whichever holds less at once: rows for a gradient come from all tokens, gathered over axes that split no columns.
/// 7x has a comparison of its own for exchanges. Not a table whose words are split, however small.
bool gathers_table(const BlockState& state, const Operation& op, Phase phase);

}  // namespace shardplan
