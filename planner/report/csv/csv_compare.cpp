#include <fmt/format.h>
#include <fmt/ranges.h>

#include <planner/compare/traffic.hpp>
#include <planner/report/compare/compare_table.hpp>
#include <planner/report/compare_report.hpp>
#include <planner/report/csv/csv_table.hpp>
#include <planner/search/comparison.hpp>

namespace shardplan {
namespace {

using Eval = const Evaluation&;

struct FigureColumn {
  const char* title;
  std::string (*of)(Eval);
};

std::string bytes(Bytes bytes) { return std::to_string(bytes.value); }

constexpr FigureColumn figure_columns[] = {
    {"fit", [](Eval e) { return std::string(name_of(e.memory.fit())); }},
    {"step_seconds", [](Eval e) { return csv_number(e.time.step().value); }},
    {"compute_seconds", [](Eval e) { return csv_number(e.time.compute.value); }},
    {"exposed_collective_seconds", [](Eval e) { return csv_number(e.time.exposed_collective.value); }},
    {"hidden_collective_seconds", [](Eval e) { return csv_number(e.time.hidden_collective.value); }},
    {"exposed_host_seconds", [](Eval e) { return csv_number(e.time.exposed_host.value); }},
    {"bubble_seconds", [](Eval e) { return csv_number(e.time.bubble.value); }},
    {"all_token_routing_seconds", [](Eval e) { return csv_number(e.time.all_token_routing.value); }},
    {"tokens_per_second", [](Eval e) { return csv_number(e.tokens_per_second_with_routing()); }},
    {"model_flops_utilization", [](Eval e) { return csv_number(e.time.utilization_with_routing()); }},
    {"peak_bytes", [](Eval e) { return bytes(e.memory.peak()); }},
    {"capacity_bytes", [](Eval e) { return bytes(e.memory.capacity); }},
    {"all_to_all_bytes", [](Eval e) { return bytes(traffic_of(e).all_to_all); }},
    {"gather_bytes", [](Eval e) { return bytes(traffic_of(e).gather); }},
    {"reduce_bytes", [](Eval e) { return bytes(traffic_of(e).reduce); }},
    {"permute_bytes", [](Eval e) { return bytes(traffic_of(e).permute); }},
    {"remat", [](Eval e) { return e.remat; }},
    {"per_device_batch_size", [](Eval e) { return csv_number(e.config.per_device_batch_size); }},
    {"gradient_accumulation_steps", [](Eval e) { return std::to_string(e.config.gradient_accumulation_steps); }},
    {"global_batch_tokens", [](Eval e) { return std::to_string(e.global_batch_tokens); }},
};

std::vector<std::string> figure_titles() {
  std::vector<std::string> all = {"name",  "settings", "model",    "hardware", "chips",
                                  "mesh",  "rules",    "moe_path", "feasible", "slower"};
  for (const auto& column : figure_columns) all.emplace_back(column.title);
  all.emplace_back("dollars_per_million_tokens");
  all.emplace_back("reason");
  all.emplace_back("lacks_bias_gradients");
  return all;
}

std::string joined(const std::vector<std::string>& settings) { return fmt::format("{}", fmt::join(settings, " ")); }

std::vector<std::string> cells_of(const ComparedRow& row, Eval base) {
  Eval e = row.evaluation;
  std::vector<std::string> cells = {row.name, joined(row.settings), e.model, e.hardware, std::to_string(e.chips),
                                    describe(e.mesh), e.rules, std::string(name_of(e.moe_path)),
                                    e.infeasible ? "false" : "true", csv_number(slower_than(base, e))};
  for (const auto& column : figure_columns) cells.push_back(column.of(e));
  cells.push_back(row.dollars_per_million_tokens ? csv_number(*row.dollars_per_million_tokens) : "");
  cells.push_back(e.infeasible ? fmt::format("{}: {}", name_of(e.infeasible->constraint), e.infeasible->message) : "");
  cells.emplace_back(lacks_bias_gradients(e) ? "true" : "false");
  return cells;
}

std::vector<std::string> cells_of(const RefusedCase& refused, const ComparedSubject& subject) {
  std::vector<std::string> cells = {"", joined(refused.settings), subject.model, refused.hardware,
                                    std::to_string(subject.chips), refused.mesh, refused.rules,
                                    std::string(name_of(refused.path)), "false", ""};
  cells.resize(cells.size() + std::size(figure_columns) + 1);
  cells.push_back(refused.reason);
  cells.emplace_back();
  return cells;
}

}  // namespace

std::string compare_csv(const CompareAnswer& answer) {
  std::string text = csv_line(figure_titles());
  for (const auto& row : answer.rows) text += csv_line(cells_of(row, answer.rows.front().evaluation));
  for (const auto& refused : answer.refused) text += csv_line(cells_of(refused, subject_of(answer)));
  return text;
}

}  // namespace shardplan
