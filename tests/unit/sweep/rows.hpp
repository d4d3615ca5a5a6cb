#pragma once
// Rows with round numbers: a plan takes what it is told, 1000 tokens a step.
#include <planner/sweep/sweep.hpp>
#include <string>

namespace shardplan {

inline CellPlan plan_taking(double compute, double exposed = 0, double bubble = 0) {
  CellPlan plan;
  plan.mesh = {{"data", 1}, {"fsdp", 4}, {"expert", 2}};
  plan.rules = "default";
  plan.moe_path = "none";
  plan.remat = "full";
  plan.per_device_batch_size = 0.1;
  plan.global_batch_tokens = 1000;
  plan.peak = {10};
  plan.capacity = {20};
  plan.low = {9};
  plan.high = {12};
  plan.reserved = {1};
  plan.xla_flags = {"--xla_gpu_enable_latency_hiding_scheduler=true"};
  plan.compute = {compute};
  plan.exposed_collective = {exposed};
  plan.bubble = {bubble};
  plan.tokens_per_second = 1000 / plan.step().value;
  plan.model_flops_utilization = 0.5;
  return plan;
}

inline SweepRow possible(const std::string& model, const std::string& hardware, int chips, const CellPlan& plan) {
  SweepRow row;
  row.cell = {model, hardware, chips};
  row.plan = plan;
  return row;
}

inline SweepRow impossible(const std::string& model, const std::string& hardware, int chips) {
  SweepRow row;
  row.cell = {model, hardware, chips};
  row.limit = Limit::memory;
  row.reason = "needs 3 of 2 GiB";
  return row;
}

/// Of 1e6 tokens.
inline SweepRow with_budget(SweepRow row, std::optional<double> dollars_per_chip_hour = {}) {
  Budget budget;
  budget.duration = {1e6 / row.plan->tokens_per_second};
  budget.chip_hours = budget.duration.value / 3600 * row.cell.chips;
  if (dollars_per_chip_hour) budget.dollars = budget.chip_hours * *dollars_per_chip_hour;
  row.budget = budget;
  return row;
}

/// All cells of a whole sweep.
inline SweepAnswer answer_of(std::vector<SweepRow> rows) {
  SweepAnswer answer;
  answer.request = {{"--chips", "4..16"}, {"--model", "a"}};
  answer.cells = rows.size();
  for (std::size_t i = 0; i < rows.size(); ++i) rows[i].place = i;
  answer.rows = std::move(rows);
  return answer;
}

}  // namespace shardplan
