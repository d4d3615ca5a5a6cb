#pragma once
// The ways from one path through the experts to another, for what either does with them.
#include <shardplan/configuration.hpp>
#include <string>

namespace shardplan {

/// The same run with its experts' rows sorted, in the kernel that the machine's compiler has for them.
Configuration on_sparse_path(Configuration configuration);

/// The arguments that make it of a run: "sparse_matmul=True megablox=False" on machines without megablox, which is refused
/// there.
std::string sparse_path_words(const TrainConfig& now, const TrainConfig& sparse);

/// The arguments that take a run off the sparse path, with what that changes for the model.
std::string dropping_path_words();

}  // namespace shardplan
