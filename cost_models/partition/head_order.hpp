#pragma once
// When the head's weight gradient runs: before the layers' backward pass, or after it.
#include <shardplan/compiler.hpp>
#include <shardplan/program.hpp>

namespace shardplan {

/// Whether it is expected after the layers (Habit::defers_head_gradient, defers_tied_head_gradient).
bool is_head_gradient_deferred(const Block& head, const Compiler& compiler);

}  // namespace shardplan
