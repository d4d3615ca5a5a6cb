#include <fmt/format.h>

#include <array>
#include <formats/named_value.hpp>
#include <formats/strict_json.hpp>
#include <planner/sweep/read_sweep.hpp>
#include <shardplan/error.hpp>

namespace shardplan {
namespace {

constexpr double slowest = 1e-6;  // tokens a second: a trillion of them take less than 1e30 seconds

std::optional<double> number_or_null(StrictObject& object, const std::string& key) {
  if (object.any(key).is_null()) return std::nullopt;
  return object.magnitude(key);
}

constexpr std::pair<const char*, Seconds CellPlan::*> plan_times[] = {
    {"compute_seconds", &CellPlan::compute},
    {"exposed_collective_seconds", &CellPlan::exposed_collective},
    {"exposed_host_seconds", &CellPlan::exposed_host},
    {"bubble_seconds", &CellPlan::bubble},
    {"all_token_routing_seconds", &CellPlan::all_token_routing}};

/// In the order of `mesh_axes`: a JSON object has none.
std::vector<AskedAxis> read_mesh(StrictObject& plan) {
  StrictObject sizes = plan.object("mesh");
  std::vector<AskedAxis> mesh;
  for (const auto& axis : plan.texts("mesh_axes")) mesh.push_back({axis, sizes.count(axis, 1)});
  sizes.finish();
  return mesh;
}

/// Documents from before these were written have none of them.
void read_range_and_flags(CellPlan& read, StrictObject& plan) {
  read.low = read.high = read.peak;
  if (!plan.has("peak_range")) return;
  StrictObject range = plan.object("peak_range");
  read.low = {range.integer_at_least("low_bytes", 0)};
  read.high = {range.integer_at_least("high_bytes", 0)};
  range.finish();
  read.reserved = {plan.integer_at_least("reserved_bytes", 0)};
  read.xla_flags = plan.texts("xla_flags");
}

CellPlan read_plan(StrictObject& cell, StrictObject plan) {
  constexpr std::array fits = {Fit::fits, Fit::marginal, Fit::does_not_fit};
  CellPlan read;
  read.slices = cell.count("slices", 1);
  read.mesh = read_mesh(plan);
  read.rules = plan.text("rules");
  read.moe_path = plan.text("moe_path");
  read.remat = plan.text("remat");
  read.per_device_batch_size = plan.magnitude("per_device_batch_size", 1e-9);
  read.global_batch_tokens = plan.integer_at_least("global_batch_tokens", 1);
  read.fit = enumerator_named(fits, "fit", plan.text("fit"), plan.where());
  read.peak = {plan.integer_at_least("peak_bytes", 0)};
  read.capacity = {plan.integer_at_least("capacity_bytes", 1)};
  read_range_and_flags(read, plan);
  for (const auto& [key, member] : plan_times) read.*member = {plan.magnitude(key)};
  read.tokens_per_second = cell.magnitude("tokens_per_second", slowest);
  read.model_flops_utilization = plan.magnitude("model_flops_utilization");
  read.lacks_bias_gradients = plan.has("lacks_bias_gradients") && plan.flag("lacks_bias_gradients");
  StrictObject arguments = plan.object("maxtext_arguments");
  for (const auto& key : arguments.untaken()) read.maxtext_arguments.emplace(key, arguments.text(key));
  plan.finish();
  return read;
}

std::optional<Budget> read_budget(StrictObject& cell, const CellPlan& plan, const SweepGoal& goal) {
  if (!goal.tokens) return std::nullopt;
  Budget budget;
  budget.duration = {static_cast<double>(*goal.tokens) / plan.tokens_per_second};
  budget.chip_hours = cell.magnitude("chip_hours");
  budget.dollars = number_or_null(cell, "cost");
  budget.kilowatt_hours = number_or_null(cell, "energy_kwh");
  return budget;
}

SweepRow read_row(StrictObject cell, const SweepGoal& goal) {
  SweepRow row;
  row.place = static_cast<std::size_t>(cell.integer_at_least("place", 0));
  row.cell = {cell.text("model"), cell.text("hardware"), cell.count("chips", 1)};
  row.limit = enumerator_named(all_limits(), "limit", cell.text("limited_by"), cell.where());
  if (cell.flag("feasible")) {
    row.plan = read_plan(cell, cell.object("plan"));
    row.budget = read_budget(cell, *row.plan, goal);
  } else {
    row.reason = cell.text("reason");
  }
  return row;  // what else stands there follows from these
}

SweepRequestWords read_request(StrictObject object) {
  SweepRequestWords words;
  for (const auto& flag : object.untaken()) words.emplace_back(flag, object.text(flag));
  return words;
}

Shard read_shard(StrictObject object) {
  const std::int64_t number = object.integer("number"), count = object.integer("count");
  if (number < 1 || number > count) object.fail("number", "from 1 to count");
  return {static_cast<std::size_t>(number), static_cast<std::size_t>(count)};
}

/// Ascending, and those of its shard.
void check_places(const SweepAnswer& answer, const std::string& file) {
  for (std::size_t i = 0; i < answer.rows.size(); ++i) {
    const std::size_t place = answer.rows[i].place;
    const bool ascends = i == 0 || answer.rows[i - 1].place < place;
    if (!ascends || place >= answer.cells || !answer.shard.has(place))
      throw InputError(fmt::format("{}: cells[{}]: place {} is not the next of shard {}/{} of {} cells", file, i, place,
                                   answer.shard.number, answer.shard.count, answer.cells));
  }
}

SweepGoal read_goal(StrictObject& object) {
  SweepGoal goal;
  if (!object.any("tokens").is_null()) goal.tokens = object.integer("tokens");
  if (const auto within = number_or_null(object, "within_seconds")) goal.within = Seconds{*within};
  return goal;
}

}  // namespace

SweepAnswer read_sweep(std::string_view text, const std::string& file) {
  const nlohmann::json json = parse_json(text, file);
  StrictObject object(json, file);
  if (!object.has("command") || object.text("command") != "sweep")
    object.fail("command", "\"sweep\": a document of that command");
  if (object.integer("schema_version") != 1) object.fail("schema_version", "1");
  SweepAnswer answer;
  answer.request = read_request(object.object("request"));
  answer.goal = read_goal(object);
  answer.shard = read_shard(object.object("shard"));
  answer.cells = static_cast<std::size_t>(object.integer_at_least("grid_cells", 0));
  std::size_t i = 0;
  for (const auto& cell : object.array("cells"))
    answer.rows.push_back(read_row(StrictObject(cell, fmt::format("{}: cells[{}]", file, i++)), answer.goal));
  StrictObject machines = object.object("machine_files");
  for (const auto& name : machines.untaken()) answer.machine_files.emplace(name, machines.text(name));
  check_places(answer, file);
  return answer;
}

}  // namespace shardplan
