#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <planner/sweep/merge.hpp>
#include <set>
#include <shardplan/error.hpp>

namespace shardplan {
namespace {

void check_same_sweep(const NamedSweep& one, const NamedSweep& other) {
  if (one.answer.request == other.answer.request && one.answer.cells == other.answer.cells) return;
  throw InputError(fmt::format("{} and {} are shards of different sweeps: {}", one.file, other.file,
                               difference(one.answer.request, other.answer.request)));
}

void check_complete(const NamedSweep& shard) {
  if (is_complete(shard.answer)) return;
  throw InputError(fmt::format("{} has {} of its {}; run the command that writes it again: it goes on where it ended",
                               shard.file, shard.answer.rows.size(), counted_cells(cells_of_shard(shard.answer))));
}

/// A cell is in one shard: one that is in two files was planned twice, or a file was given twice.
[[noreturn]] void fail_twice(const std::vector<NamedSweep>& shards, const NamedSweep& shard, const SweepRow& known,
                             const SweepRow& row) {
  if (known != row)
    throw InputError(fmt::format("{}: another file says something else of {}", shard.file, describe(row.cell)));
  const auto first = std::find_if(shards.begin(), shards.end(), [&](const NamedSweep& other) {
    const auto& rows = other.answer.rows;
    return std::find(rows.begin(), rows.end(), row) != rows.end();
  });
  throw InputError(fmt::format("{} has {}, which {} has already: give each shard once", shard.file, describe(row.cell),
                               first->file));
}

/// "2/3", "3/3": with as many shards as the first file says.
std::vector<std::string> missing_shards(const std::map<std::size_t, SweepRow>& rows, const SweepAnswer& first) {
  std::set<std::size_t> numbers;
  for (std::size_t place = 0; place < first.cells; ++place)
    if (!rows.contains(place)) numbers.insert(place % first.shard.count + 1);
  std::vector<std::string> names;
  for (const std::size_t number : numbers) names.push_back(fmt::format("{}/{}", number, first.shard.count));
  return names;
}

}  // namespace

std::string difference(const SweepRequestWords& one, const SweepRequestWords& other) {
  const std::map<std::string, std::string> a(one.begin(), one.end()), b(other.begin(), other.end());
  std::set<std::string> flags;
  for (const auto& words : {a, b})
    for (const auto& [flag, value] : words) flags.insert(flag);
  const auto said = [](const auto& words, const std::string& flag) {
    const auto found = words.find(flag);
    return found == words.end() ? "not given" : found->second;
  };
  for (const auto& flag : flags)
    if (said(a, flag) != said(b, flag))
      return fmt::format("{} is {} in one, {} in the other", flag, said(a, flag), said(b, flag));
  return "their grids differ";
}

SweepAnswer merge(const std::vector<NamedSweep>& shards) {
  if (shards.empty()) throw InternalError("no shard to merge");
  std::map<std::size_t, SweepRow> rows;
  for (const NamedSweep& shard : shards) {
    check_same_sweep(shards.front(), shard);
    check_complete(shard);
    for (const SweepRow& row : shard.answer.rows)
      if (const auto [known, is_new] = rows.try_emplace(row.place, row); !is_new)
        fail_twice(shards, shard, known->second, row);
  }
  SweepAnswer whole = shards.front().answer;
  if (rows.size() < whole.cells)
    throw InputError(fmt::format("{} of {} are missing: shards {}", whole.cells - rows.size(), counted_cells(whole.cells),
                                 fmt::join(missing_shards(rows, whole), ", ")));
  whole.shard = {};
  whole.rows.clear();
  for (auto& [place, row] : rows) whole.rows.push_back(std::move(row));
  return whole;
}

}  // namespace shardplan
