#include <planner/report/csv/csv_table.hpp>
#include <planner/report/sweep_report.hpp>
#include <planner/sweep/answers.hpp>

namespace shardplan {
namespace {

struct CsvColumn {
  const char* title;
  std::string (*of_plan)(const CellPlan&);
};

constexpr CsvColumn plan_columns[] = {
    {"slices", [](const CellPlan& p) { return std::to_string(p.slices); }},
    {"fit", [](const CellPlan& p) { return std::string(name_of(p.fit)); }},
    {"step_seconds", [](const CellPlan& p) { return csv_number(p.step().value); }},
    {"compute_seconds", [](const CellPlan& p) { return csv_number(p.compute.value); }},
    {"exposed_collective_seconds", [](const CellPlan& p) { return csv_number(p.exposed_collective.value); }},
    {"exposed_host_seconds", [](const CellPlan& p) { return csv_number(p.exposed_host.value); }},
    {"bubble_seconds", [](const CellPlan& p) { return csv_number(p.bubble.value); }},
    {"all_token_routing_seconds", [](const CellPlan& p) { return csv_number(p.all_token_routing.value); }},
    {"tokens_per_second", [](const CellPlan& p) { return csv_number(p.tokens_per_second); }},
    {"model_flops_utilization", [](const CellPlan& p) { return csv_number(p.model_flops_utilization); }},
    {"peak_bytes", [](const CellPlan& p) { return std::to_string(p.peak.value); }},
    {"capacity_bytes", [](const CellPlan& p) { return std::to_string(p.capacity.value); }},
    {"mesh", [](const CellPlan& p) { return describe_mesh(p); }},
    {"rules", [](const CellPlan& p) { return p.rules; }},
    {"moe_path", [](const CellPlan& p) { return p.moe_path; }},
    {"remat", [](const CellPlan& p) { return p.remat; }},
    {"per_device_batch_size", [](const CellPlan& p) { return csv_number(p.per_device_batch_size); }},
    {"global_batch_tokens", [](const CellPlan& p) { return std::to_string(p.global_batch_tokens); }},
};

std::vector<std::string> titles() {
  std::vector<std::string> all = {"model", "hardware", "chips", "feasible"};
  for (const auto& column : plan_columns) all.emplace_back(column.title);
  for (const char* title : {"days", "chip_hours", "cost", "energy_kwh", "in_time", "limited_by", "reason",
                            "lacks_bias_gradients"})
    all.emplace_back(title);
  return all;
}

std::vector<std::string> cells_of(const SweepRow& row, const SweepGoal& goal) {
  std::vector<std::string> cells = {row.cell.model, row.cell.hardware, std::to_string(row.cell.chips),
                                    row.plan ? "true" : "false"};
  for (const auto& column : plan_columns) cells.push_back(row.plan ? column.of_plan(*row.plan) : "");
  const auto& budget = row.budget;
  cells.push_back(budget ? csv_number(in_days(budget->duration)) : "");
  cells.push_back(budget ? csv_number(budget->chip_hours) : "");
  cells.push_back(budget ? csv_number(budget->dollars) : "");
  cells.push_back(budget ? csv_number(budget->kilowatt_hours) : "");
  cells.emplace_back(!goal.within ? "" : meets(row, goal) ? "true" : "false");
  cells.emplace_back(name_of(row.limit));
  cells.push_back(row.reason);
  cells.emplace_back(!row.plan ? "" : row.plan->lacks_bias_gradients ? "true" : "false");
  return cells;
}

}  // namespace

std::string sweep_csv(const SweepAnswer& answer) {
  std::string text = csv_line(titles());
  for (const SweepRow& row : answer.rows) text += csv_line(cells_of(row, answer.goal));
  return text;
}

}  // namespace shardplan
