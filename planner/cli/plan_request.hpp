#pragma once
// The flags of `plan` as the question that the planner answers.
#include <optional>
#include <planner/cli/task.hpp>
#include <shardplan/plan.hpp>
#include <string>

namespace shardplan {

/// As written; empty where a flag is not given.
struct PlanFlags {
  std::optional<std::string> model, chips, hardware, sequence_length, per_device_batch, global_batch_tokens,
      max_batch_tokens, max_step_seconds, time_limit, memory_limit, rules, mesh, moe, remat, optimizer, objective,
      price, slices, top, reserve, memory_fraction, xla_flags;
  std::string command = "plan";  ///< whose flags they are, for messages
  Words key_values;  ///< further MaxText settings that hold for every candidate
};

/// What --moe, --objective and --optimizer can be.
Words moe_words();
Words objective_words();
Words optimizer_words();

/// Throws InputError on anything missing, unknown, malformed or contradictory.
PlanRequest read_plan_request(const PlanFlags& flags);

/// What --model names. Throws InputError likewise, and on a model that can't be planned.
Model read_model(const PlanFlags& flags);
/// The same for a model that has been read, whatever --model says.
PlanRequest read_plan_request(const PlanFlags& flags, const Model& model);

}  // namespace shardplan
