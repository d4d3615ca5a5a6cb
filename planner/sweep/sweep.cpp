#include <fmt/format.h>

#include <array>
#include <planner/sweep/sweep.hpp>
#include <shardplan/collective/counted.hpp>
#include <shardplan/error.hpp>

namespace shardplan {

std::span<const Limit> all_limits() {
  static constexpr auto all = [] {
    std::array<Limit, static_cast<std::size_t>(last_limit) + 1> each{};
    for (std::size_t i = 0; i < each.size(); ++i) each[i] = static_cast<Limit>(i);
    return each;
  }();
  return all;
}

std::string_view name_of(Limit limit) {
  switch (limit) {
    case Limit::compute:
      return "compute";
    case Limit::exposed_communication:
      return "exposed-communication";
    case Limit::bubble:
      return "bubble";
    case Limit::host_transfers:
      return "host-transfers";
    case Limit::batch:
      return "batch-limit";
    case Limit::memory:
      return "memory";
    case Limit::step:
      return "step-limit";
    case Limit::slices:
      return "slices";
    case Limit::constraints:
      return "constraints";
  }
  throw InternalError("unknown Limit");
}

std::string describe(const SweepCell& cell) {
  return fmt::format("{} on {} of {}", cell.model, counted(cell.chips, "chip"), cell.hardware);
}

double in_days(Seconds duration) {
  constexpr double seconds_a_day = 24 * 60 * 60;
  return duration.value / seconds_a_day;
}

std::string describe_mesh(const CellPlan& plan) {
  Mesh mesh;
  for (const auto& [axis, size] : plan.mesh) mesh.axes.push_back({axis, size});
  return describe(mesh);
}

std::size_t cells_of_shard(const SweepAnswer& answer) {
  const auto [number, count] = answer.shard;
  return answer.cells < number ? 0 : (answer.cells - number) / count + 1;
}

std::string counted_cells(std::size_t count) { return counted(static_cast<std::int64_t>(count), "cell"); }

bool is_complete(const SweepAnswer& answer) { return answer.rows.size() == cells_of_shard(answer); }

}  // namespace shardplan
