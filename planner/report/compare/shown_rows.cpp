#include <algorithm>
#include <planner/compare/traffic.hpp>
#include <planner/report/compare/compare_table.hpp>

namespace shardplan {
namespace {

bool moves_the_same(const Evaluation& a, const Evaluation& b) {
  const TrafficBytes mine = traffic_of(a), theirs = traffic_of(b);
  return mine.all_to_all == theirs.all_to_all && mine.gather == theirs.gather && mine.reduce == theirs.reduce &&
         mine.permute == theirs.permute;
}

/// The same run, whatever its rules are called.
bool is_same_run(const ComparedRow& a, const ComparedRow& b) {
  const Evaluation &x = a.evaluation, &y = b.evaluation;
  return a.settings == b.settings && x.hardware == y.hardware && describe(x.mesh) == describe(y.mesh) &&
         x.moe_path == y.moe_path && x.remat == y.remat && x.global_batch_tokens == y.global_batch_tokens &&
         x.time.with_routing() == y.time.with_routing() && x.memory.peak() == y.memory.peak() && moves_the_same(x, y);
}

}  // namespace

ShownRows shown_rows(const CompareAnswer& answer, std::size_t most) {
  ShownRows shown{answer, 0};
  if (answer.rules || answer.changed) return shown;
  std::vector<ComparedRow> rows;
  for (const auto& row : answer.rows) {
    const auto same = std::find_if(rows.begin(), rows.end(), [&](const ComparedRow& one) { return is_same_run(one, row); });
    if (same == rows.end())
      rows.push_back(row);
    else
      same->evaluation.rules += "," + row.evaluation.rules;
  }
  if (rows.size() > most) {
    shown.left = rows.size() - most;
    rows.erase(rows.begin() + static_cast<std::ptrdiff_t>(most), rows.end());
  }
  shown.answer.rows = std::move(rows);
  return shown;
}

}  // namespace shardplan
