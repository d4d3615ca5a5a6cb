#include <planner/report/json/json_values.hpp>
#include <planner/report/sweep_report.hpp>
#include <planner/sweep/answers.hpp>
#include <planner/sweep/scaling.hpp>

namespace shardplan {
namespace {

template <class Value, class Print>
OrderedJson or_null(const std::optional<Value>& value, Print print) {
  return value ? OrderedJson(print(*value)) : OrderedJson(nullptr);
}

OrderedJson number_or_null(const std::optional<double>& number, std::string_view what) {
  return or_null(number, [&](double value) { return json_number(value, what); });
}

OrderedJson json_plan_of(const CellPlan& plan) {
  OrderedJson sizes = OrderedJson::object(), axes = OrderedJson::array();
  for (const auto& [axis, size] : plan.mesh) {
    sizes[axis] = size;
    axes.push_back(axis);
  }
  OrderedJson arguments = OrderedJson::object();
  for (const auto& [key, value] : plan.maxtext_arguments) arguments[key] = value;
  return {{"mesh", std::move(sizes)},
          {"mesh_axes", std::move(axes)},
          {"rules", plan.rules},
          {"moe_path", plan.moe_path},
          {"remat", plan.remat},
          {"per_device_batch_size", json_number(plan.per_device_batch_size, "per_device_batch_size")},
          {"global_batch_tokens", plan.global_batch_tokens},
          {"fit", name_of(plan.fit)},
          {"peak_bytes", plan.peak.value},
          {"peak_range", json_byte_range(plan.low, plan.high)},
          {"capacity_bytes", plan.capacity.value},
          {"reserved_bytes", plan.reserved.value},
          {"compute_seconds", json_number(plan.compute.value, "compute_seconds")},
          {"exposed_collective_seconds", json_number(plan.exposed_collective.value, "exposed_collective_seconds")},
          {"exposed_host_seconds", json_number(plan.exposed_host.value, "exposed_host_seconds")},
          {"bubble_seconds", json_number(plan.bubble.value, "bubble_seconds")},
          {"all_token_routing_seconds", json_number(plan.all_token_routing.value, "all_token_routing_seconds")},
          {"model_flops_utilization", json_number(plan.model_flops_utilization, "model_flops_utilization")},
          {"lacks_bias_gradients", plan.lacks_bias_gradients},
          {"xla_flags", plan.xla_flags},
          {"maxtext_arguments", std::move(arguments)}};
}

/// Every key of every cell; null where there is nothing to say.
OrderedJson json_cell(const SweepRow& row) {
  const auto of_plan = [&](auto print) { return or_null(row.plan, print); };
  const auto of_budget = [&](auto print) { return or_null(row.budget, print); };
  return {{"place", row.place},
          {"model", row.cell.model},
          {"hardware", row.cell.hardware},
          {"chips", row.cell.chips},
          {"slices", of_plan([](const CellPlan& p) { return OrderedJson(p.slices); })},
          {"feasible", row.plan.has_value()},
          {"step_seconds", of_plan([](const CellPlan& p) { return json_number(p.step().value, "step_seconds"); })},
          {"tokens_per_second",
           of_plan([](const CellPlan& p) { return json_number(p.tokens_per_second, "tokens_per_second"); })},
          {"days", of_budget([](const Budget& b) { return json_number(in_days(b.duration), "days"); })},
          {"chip_hours", of_budget([](const Budget& b) { return json_number(b.chip_hours, "chip_hours"); })},
          {"cost", of_budget([](const Budget& b) { return number_or_null(b.dollars, "cost"); })},
          {"energy_kwh", of_budget([](const Budget& b) { return number_or_null(b.kilowatt_hours, "energy_kwh"); })},
          {"plan", of_plan(json_plan_of)},
          {"limited_by", name_of(row.limit)},
          {"reason", row.plan ? OrderedJson(nullptr) : OrderedJson(row.reason)}};
}

OrderedJson json_choice(const SweepChoice& choice, const SweepAnswer& answer) {
  const auto cell = [&](const std::optional<std::size_t>& row) {
    return or_null(row, [&](std::size_t i) { return json_cell(answer.rows[i]); });
  };
  return {{"smallest", cell(choice.smallest)}, {"cheapest", cell(choice.cheapest)}, {"fastest", cell(choice.fastest)}};
}

/// Of all cells, and of each model by itself.
OrderedJson json_answers(const SweepAnswer& answer) {
  OrderedJson answers = json_choice(choose(answer), answer);
  OrderedJson by_model = OrderedJson::object();
  for (const auto& model : models_of(answer)) by_model[model] = json_choice(choose(answer, model), answer);
  answers["by_model"] = std::move(by_model);
  return answers;
}

OrderedJson json_scaling(const SweepAnswer& answer) {
  OrderedJson list = OrderedJson::array();
  const auto chips = [&](std::size_t row) { return answer.rows[row].cell.chips; };
  for (const MachineScaling& scaling : scaling_of(answer)) {
    const SweepCell& cell = answer.rows[scaling.smallest].cell;
    OrderedJson value = {{"model", cell.model},
                         {"hardware", cell.hardware},
                         {"share", scaling_share},
                         {"smallest_chips", chips(scaling.smallest)},
                         {"scales_to_chips", chips(scaling.largest.row)},
                         {"efficiency", json_number(scaling.largest.efficiency, "efficiency")},
                         {"stops", nullptr}};
    if (scaling.stops)
      value["stops"] = {{"chips", chips(scaling.stops->row)},
                        {"efficiency", json_number(scaling.stops->efficiency, "efficiency")},
                        {"grown", name_of(scaling.grown)},
                        {"growth", json_number(scaling.growth, "growth")},
                        {"limited_by", name_of(answer.rows[scaling.stops->row].limit)}};
    list.push_back(std::move(value));
  }
  return list;
}

OrderedJson json_request(const SweepRequestWords& words) {
  OrderedJson request = OrderedJson::object();
  for (const auto& [flag, value] : words) request[flag] = value;
  return request;
}

}  // namespace

std::string sweep_json(const SweepAnswer& answer) {
  OrderedJson cells = OrderedJson::array();
  for (const SweepRow& row : answer.rows) cells.push_back(json_cell(row));
  return print_document(
      {{"schema_version", schema_version},
       {"command", "sweep"},
       {"request", json_request(answer.request)},
       {"machine_files", answer.machine_files},
       {"shard", {{"number", answer.shard.number}, {"count", answer.shard.count}}},
       {"grid_cells", answer.cells},
       {"complete", is_complete(answer)},
       {"tokens", or_null(answer.goal.tokens, [](std::int64_t tokens) { return OrderedJson(tokens); })},
       {"within_seconds",
        or_null(answer.goal.within, [](Seconds within) { return json_number(within.value, "within_seconds"); })},
       {"cells", std::move(cells)},
       {"answers", json_answers(answer)},
       {"scaling", json_scaling(answer)}});
}

}  // namespace shardplan
