#pragma once
// What the parts of a step's timeline are called.
#include <shardplan/bound_program.hpp>
#include <shardplan/collective/collective.hpp>
#include <shardplan/answer/step_timeline.hpp>
#include <string>

namespace shardplan {

std::string body_in_words(const TimedBody& body, const LaidOutProgram& program);  ///< "moe_layers forward", "update"

/// "self_attention/query", "gradient of self_attention/query"; `body` is the kernel's.
std::string kernel_in_words(const TimedKernel& kernel, const TimedBody& body, const LaidOutProgram& program);

std::string collective_in_words(const Collective& collective, const Mesh& mesh);  ///< "all-gather over fsdp+expert"

}  // namespace shardplan
