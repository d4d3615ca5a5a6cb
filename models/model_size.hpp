#pragma once
#include <shardplan/model.hpp>

namespace shardplan {

/// About as many parameters as the model can have, by what is widest in its layers; a number of any size.
double most_parameters(const Model& model);

}  // namespace shardplan
