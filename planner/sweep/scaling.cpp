#include <array>
#include <planner/sweep/scaling.hpp>

namespace shardplan {
namespace {

double per_chip(const SweepRow& row) { return row.plan->tokens_per_second / row.cell.chips; }

/// A part of the step as chip-seconds a token.
struct Part {
  Limit name;
  Seconds CellPlan::*seconds;
};

constexpr std::array parts = {Part{Limit::compute, &CellPlan::compute},
                              Part{Limit::exposed_communication, &CellPlan::exposed_collective},
                              Part{Limit::bubble, &CellPlan::bubble}, Part{Limit::host_transfers, &CellPlan::exposed_host}};

double chip_time(const SweepRow& row, Seconds seconds) {
  return seconds.value * row.cell.chips / static_cast<double>(row.plan->global_batch_tokens);
}

void say_what_grew(MachineScaling& scaling, const SweepRow& small, const SweepRow& large) {
  const double whole = chip_time(small, small.plan->step());
  for (const auto& [name, seconds] : parts) {
    const double growth = (chip_time(large, (*large.plan).*seconds) - chip_time(small, (*small.plan).*seconds)) / whole;
    if (growth <= scaling.growth) continue;
    scaling.grown = name;
    scaling.growth = growth;
  }
}

/// The possible rows of the cells from `begin` on that share model and machine; `begin` moves behind them.
std::vector<std::size_t> next_machine(const std::vector<SweepRow>& rows, std::size_t& begin) {
  const SweepCell first = rows[begin].cell;
  std::vector<std::size_t> possible;
  for (; begin < rows.size() && rows[begin].cell.model == first.model && rows[begin].cell.hardware == first.hardware;
       ++begin)
    if (rows[begin].plan) possible.push_back(begin);
  return possible;
}

MachineScaling scaling_over(const std::vector<std::size_t>& sizes, const std::vector<SweepRow>& rows) {
  const SweepRow& smallest = rows[sizes.front()];
  MachineScaling scaling{sizes.front(), {sizes.front(), 1}, {}, Limit::compute, 0};
  for (const std::size_t size : sizes) {
    const ScaledSize scaled{size, per_chip(rows[size]) / per_chip(smallest)};
    if (scaled.efficiency >= scaling_share) {  // a size between that no mesh suits is passed over
      scaling.largest = scaled;
      scaling.stops.reset();
    } else if (!scaling.stops) {
      scaling.stops = scaled;
    }
  }
  if (scaling.stops) say_what_grew(scaling, smallest, rows[scaling.stops->row]);
  return scaling;
}

}  // namespace

std::vector<MachineScaling> scaling_of(const SweepAnswer& answer) {
  std::vector<MachineScaling> all;
  for (std::size_t begin = 0; begin < answer.rows.size();)
    if (const auto sizes = next_machine(answer.rows, begin); sizes.size() > 1)
      all.push_back(scaling_over(sizes, answer.rows));
  return all;
}

}  // namespace shardplan
