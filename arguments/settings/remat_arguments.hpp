#pragma once
// remat_policy, and with remat_policy=custom where each named activation lives (SHARDING.md section 4).
#include <arguments/words/given_arguments.hpp>
#include <shardplan/train_config.hpp>
#include <string>
#include <utility>
#include <vector>

namespace shardplan {

/// remat_policy=custom with the places that are given, whatever the policy; MaxText's default where one isn't.
RematPolicy custom_remat_policy(const GivenArguments& arguments);

/// Throws InputError on an unknown policy or place, and on one that `config`'s scan or quantization makes another program
/// of. Places are read only with remat_policy=custom, as in MaxText.
RematPolicy read_remat(const GivenArguments& arguments, const TrainConfig& config);

/// The places that words of the command line say and nothing reads, since the policy is no custom one: "mlpwi=device".
std::vector<std::string> ignored_places(const GivenArguments& arguments, const TrainConfig& config);

std::vector<std::pair<std::string, std::string>> remat_as_arguments(const RematPolicy& remat);

}  // namespace shardplan
