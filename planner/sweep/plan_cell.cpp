#include <fmt/format.h>

#include <algorithm>
#include <arguments/print_configuration.hpp>
#include <bit>
#include <planner/search/comparison.hpp>
#include <planner/search/plan_machine.hpp>
#include <planner/search/space/batch_options.hpp>
#include <planner/sweep/plan_cell.hpp>
#include <planner/words/fit_words.hpp>

namespace shardplan {
namespace {

/// A step that loses less than this to waiting is limited by compute.
constexpr double visible_loss = 0.1;

/// Steps of any length have to make a token faster by more than this, or their length is no limit.
constexpr double visible_gain = 0.01;

/// Exposed seconds of what a batch of any size moves once: weights and their gradients.
Seconds exposed_for_weights(const Evaluation& plan) {
  Seconds sum;
  for (const Collective& collective : plan.collectives)
    if (collective.parameter) sum += collective.exposed;
  return sum;
}

/// The batch that the search tries after this one.
std::int64_t next_batch_tokens(const Evaluation& plan) {
  const Configuration& c = *plan.configuration;
  const std::int64_t unit_tokens = batch_unit(c.model, c.rules, plan.mesh, plan.config) * plan.config.max_target_length *
                                   plan.config.gradient_accumulation_steps;
  const std::int64_t units = std::max<std::int64_t>(1, plan.global_batch_tokens / unit_tokens);
  return next_units(units) * unit_tokens;
}

/// A larger batch would spread the loss over more tokens; what keeps it from being larger?
Limit limit_of_batch(const Evaluation& plan, const PlanRequest& request) {
  const bool fixed = request.per_device_batch || request.global_batch_tokens;
  return fixed || next_batch_tokens(plan) > request.max_batch_tokens ? Limit::batch : Limit::memory;
}

PlanRequest request_of(const GridCell& cell) {
  PlanRequest request = *cell.request;
  request.machines = {*cell.machine};
  request.chips = cell.cell.chips;
  request.beside = Beside::nothing;
  return request;
}

CellPlan plan_of(const Evaluation& e) {
  CellPlan plan;
  plan.slices = e.slices;
  for (const MeshAxis& axis : e.mesh.axes) plan.mesh.push_back({axis.name, axis.size()});
  plan.rules = e.rules;
  plan.moe_path = name_of(e.moe_path);
  plan.remat = e.remat;
  plan.per_device_batch_size = e.config.per_device_batch_size;
  plan.global_batch_tokens = e.global_batch_tokens;
  plan.fit = e.memory.fit();
  plan.peak = e.memory.peak();
  plan.capacity = e.memory.capacity;
  plan.low = e.memory.low;
  plan.high = e.memory.high;
  plan.reserved = e.memory.reserved;
  plan.compute = e.time.compute;
  plan.exposed_collective = e.time.exposed_collective;
  plan.exposed_host = e.time.exposed_host;
  plan.bubble = e.time.bubble;
  plan.all_token_routing = e.time.all_token_routing;
  plan.tokens_per_second = e.tokens_per_second_with_routing();
  plan.model_flops_utilization = e.time.utilization_with_routing();
  plan.lacks_bias_gradients = lacks_bias_gradients(e);
  for (const auto& [key, value] : maxtext_arguments(*e.configuration)) plan.maxtext_arguments.emplace(key, value);
  plan.xla_flags = print_flags(flags_of(*e.configuration));
  return plan;
}

/// Configurations that take too long a step, where there are any.
const RejectionCount* too_slow(const MachinePlan& plan) {
  const auto found = std::find_if(plan.rejections.begin(), plan.rejections.end(), [](const RejectionCount& rejection) {
    return rejection.constraint == ConstraintId::step_seconds;
  });
  return found == plan.rejections.end() ? nullptr : &*found;
}

/// The same search with steps of any length finds a plan, or a faster one.
bool is_limited_by_step(const PlanRequest& request, const MachinePlan& plan, const Evaluator& evaluate) {
  if (!too_slow(plan)) return false;
  PlanRequest open = request;
  open.max_step.reset();
  const MachinePlan longer = plan_machine(open, request.machines.front(), evaluate);
  if (!longer.recommended) return false;
  return !plan.recommended || slower_than(*longer.recommended, *plan.recommended) > visible_gain;
}

SweepRow impossible(SweepRow row, Limit limit, std::string reason) {
  row.limit = limit;
  row.reason = std::move(reason);
  return row;
}

std::string in_words(const RejectionCount& rejection) {
  return fmt::format("{}: {}", name_of(rejection.constraint), rejection.example);
}

/// Of the run that needs least.
std::string shortage_of(const MachinePlan& plan) {
  const MemoryUse& memory = plan.closest->memory;
  const Infeasible& why = *plan.shortage();
  const std::string mesh = describe(plan.closest->mesh);
  if (plan.closest_may_fit())
    return fmt::format("{}: needs {:.1f} to {:.1f} of {:.1f} GiB a device, with {}",
                       memory.reserved.value == 0 ? "not expected to fit, though it may" : marginal_verdict(memory),
                       gibibytes(memory.low), gibibytes(memory.high), gibibytes(memory.capacity), mesh);
  return fmt::format("needs {:.1f} of {:.1f} GiB a device at least, with {}", gibibytes({why.needed}),
                     gibibytes({why.available}), mesh);
}

SweepRow without_a_plan(SweepRow row, const MachinePlan& plan, bool has_slices) {
  if (!has_slices) return impossible(std::move(row), Limit::slices, plan.refused);
  if (!plan.refused.empty()) return impossible(std::move(row), Limit::constraints, plan.refused);
  if (const Infeasible* shortage = plan.shortage()) {
    const Infeasible& why = *shortage;
    if (why.constraint != ConstraintId::hbm)
      return impossible(std::move(row), Limit::constraints,
                        fmt::format("{}: {}", name_of(why.constraint), why.message));
    return impossible(std::move(row), Limit::memory, shortage_of(plan));
  }
  if (plan.rejections.empty()) return impossible(std::move(row), Limit::constraints, "no valid configuration");
  return impossible(std::move(row), Limit::constraints, in_words(plan.rejections.front()));
}

/// Of a plan without one, for steps that are too long.
SweepRow without_a_short_step(SweepRow row, const MachinePlan& plan) {
  return impossible(std::move(row), Limit::step, in_words(*too_slow(plan)));
}

}  // namespace

Limit limit_of(const Evaluation& plan, const PlanRequest& request) {
  const StepTime& time = plan.time;
  const Seconds lost = time.exposed_collective + time.bubble + time.exposed_host;
  if (lost / time.step() < visible_loss) return Limit::compute;
  if (time.exposed_host >= std::max(time.exposed_collective, time.bubble)) return Limit::host_transfers;
  const bool of_pipeline = time.bubble > time.exposed_collective;
  const bool of_weights = exposed_for_weights(plan) * 2 > time.exposed_collective;
  if (of_pipeline || of_weights) {
    const Limit batch = limit_of_batch(plan, request);
    if (of_pipeline && batch == Limit::memory) return Limit::bubble;
    return batch;
  }
  return Limit::exposed_communication;
}

std::optional<Budget> budget_of(const CellPlan& plan, int chips, const HardwareProfile& machine, const SweepGoal& goal) {
  if (!goal.tokens) return std::nullopt;
  Budget budget;
  budget.duration = {static_cast<double>(*goal.tokens) / plan.tokens_per_second};
  budget.chip_hours = budget.duration.value / 3600 * chips;
  if (machine.price_per_chip_hour) budget.dollars = budget.chip_hours * machine.price_per_chip_hour->value;
  if (machine.power_per_chip) budget.kilowatt_hours = budget.chip_hours * machine.power_per_chip->value / 1000;
  return budget;
}

SweepRow plan_cell(const GridCell& cell, std::size_t place, const SweepGoal& goal, const Evaluator& evaluate) {
  SweepRow row;
  row.place = place;
  row.cell = cell.cell;
  const PlanRequest request = request_of(cell);
  const MachinePlan plan = plan_machine(request, *cell.machine, evaluate);
  const bool step_limits = is_limited_by_step(request, plan, evaluate);
  if (!plan.recommended && step_limits) return without_a_short_step(std::move(row), plan);
  if (!plan.recommended)
    return without_a_plan(std::move(row), plan, has_slices(*cell.machine, request.chips, request.slices));
  row.plan = plan_of(*plan.recommended);
  row.limit = step_limits ? Limit::step : limit_of(*plan.recommended, request);
  row.budget = budget_of(*row.plan, cell.cell.chips, *cell.machine, goal);
  return row;
}

}  // namespace shardplan
