#pragma once
// Fields of a model that say something about its layers which no layer heeds.
#include <shardplan/model.hpp>
#include <string>
#include <vector>

namespace shardplan {

/// The fields that differ from their default though the program without them is the same program: routed_bias in a
/// model without experts. Empty for a model that is not modelled.
std::vector<std::string> unread_fields(const Model& model);

/// Throws InputError, beginning with `place`, that names the first of them.
void check_fields_are_read(const Model& model, const std::string& place);

}  // namespace shardplan
