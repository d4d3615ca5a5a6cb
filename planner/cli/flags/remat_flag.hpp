#pragma once
// The remat policies that a search tries: those of --remat, or remat_policy=custom with its NAME=PLACE words.
#include <arguments/words/given_arguments.hpp>
#include <optional>
#include <shardplan/train_config.hpp>
#include <string>
#include <string_view>
#include <vector>

namespace shardplan {

/// What --remat can be; "all" is those that have a name of their own.
std::vector<std::string> remat_words();

/// Throws InputError on an unknown policy, on a named one that is given as KEY=VALUE, and on places of activations that no
/// policy would read.
std::vector<RematPolicy> read_remat_policies(const std::optional<std::string>& flag, const GivenArguments& given,
                                             std::string_view command);

}  // namespace shardplan
