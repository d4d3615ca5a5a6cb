#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <formats/strict_json.hpp>
#include <planner/cli/streams/output_file.hpp>
#include <planner/cli/sweep/sweep_record.hpp>
#include <planner/report/sweep_report.hpp>
#include <planner/sweep/merge.hpp>
#include <planner/sweep/read_sweep.hpp>
#include <shardplan/error.hpp>

namespace shardplan {
namespace {

/// So much work at most is done again after a kill.
constexpr auto save_every = std::chrono::milliseconds(100);

[[noreturn]] void refuse(const std::string& file, const std::string& why) {
  throw InputError(fmt::format("{} holds another sweep ({}); remove it, or write elsewhere", file, why));
}

std::vector<SweepRow> rows_of(const std::string& file, const SweepAnswer& asked) {
  std::error_code error;
  if (!std::filesystem::is_regular_file(file, error) || std::filesystem::is_empty(file, error)) return {};
  const SweepAnswer known = read_sweep(read_file(file), file);
  if (known.request != asked.request || known.cells != asked.cells) refuse(file, difference(known.request, asked.request));
  if (known.shard != asked.shard) refuse(file, fmt::format("shard {}/{}", known.shard.number, known.shard.count));
  return known.rows;
}

bool is_before(const SweepRow& row, std::size_t place) { return row.place < place; }

}  // namespace

bool is_kept(const std::string& file) {
  std::error_code error;
  return !std::filesystem::exists(file, error) || std::filesystem::is_regular_file(file, error);
}

SweepRecord::SweepRecord(std::optional<std::string> file, SweepAnswer answer)
    : file_(std::move(file)), answer_(std::move(answer)) {
  if (file_) answer_.rows = rows_of(*file_, answer_);
  save();
}

bool SweepRecord::has(std::size_t place) const {
  const auto row = std::lower_bound(answer_.rows.begin(), answer_.rows.end(), place, is_before);
  return row != answer_.rows.end() && row->place == place;
}

void SweepRecord::add(SweepRow row) {
  answer_.rows.insert(std::lower_bound(answer_.rows.begin(), answer_.rows.end(), row.place, is_before), std::move(row));
  if (std::chrono::steady_clock::now() - saved_ >= save_every) save();
}

void SweepRecord::save() {
  if (file_) OutputFile(*file_).commit(sweep_json(answer_));
  saved_ = std::chrono::steady_clock::now();
}

void SweepRecord::remove() const {
  std::error_code error;
  if (file_) std::filesystem::remove(*file_, error);
}

}  // namespace shardplan
