#pragma once
// Whether a model's dims fit together, as MaxText would require before it compiles.
#include <shardplan/model.hpp>
#include <string>

namespace shardplan {

/// Throws InputError, beginning with `place`, that names the dims that contradict each other.
void check_model(const Model& model, const std::string& place);

}  // namespace shardplan
