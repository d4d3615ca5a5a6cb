#pragma once
// What the layers of models/deepseek_batchsplit.py take for granted.
#include <optional>
#include <shardplan/configuration.hpp>
#include <shardplan/infeasible.hpp>

namespace shardplan {

std::optional<Infeasible> batch_split_violation(const Configuration& configuration);

}  // namespace shardplan
