// Output of nccl-tests and rccl-tests (common.cu): which test, a line for each rank, a table.
//   # Collective test starting: all_gather_perf
//   #  Rank  0 Group  0 Pid  37300 on   node-1 device  0 [0000:05:00] AMD Instinct MI300X
//   #       size         count      type   redop    root     time   algbw   busbw #wrong     time   algbw   busbw #wrong
//        8388608       2097152     float    none      -1    91.10   92.08  161.14      0    94.94   88.36  154.63      0
// The size is what the collective is counted by (doc/PERFORMANCE.md); the first time, in us, is that out of place.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <planner/calibrate/placed_lines.hpp>
#include <planner/calibrate/read_measurements.hpp>
#include <set>
#include <shardplan/collective/counted.hpp>
#include <shardplan/error.hpp>
#include <utility>

namespace shardplan {
namespace {

constexpr std::array<std::pair<std::string_view, CollectiveKind>, 5> tests = {{
    {"all_reduce_perf", CollectiveKind::all_reduce},
    {"all_gather_perf", CollectiveKind::all_gather},
    {"reduce_scatter_perf", CollectiveKind::reduce_scatter},
    {"alltoall_perf", CollectiveKind::all_to_all},
    {"sendrecv_perf", CollectiveKind::collective_permute},
}};

constexpr double largest_size = 1e15;  ///< bytes

class LogReader {
 public:
  LogReader(std::string_view text, const std::string& file) : lines_(text, file) {}

  Measurements read() {
    while (lines_.next()) read_line(lines_.line());
    if (measurements_.empty()) throw InputError(lines_.file() + ": no measurement: a log of nccl-tests or rccl-tests has a "
                                                                "table below '# size count type … time algbw busbw'");
    return std::move(measurements_);
  }

 private:
  void read_line(std::string_view line) {
    if (line.empty()) return;
    if (const auto test = named_test(line)) return begin_test(*test);
    if (!line.starts_with('#')) return time_column_ ? read_row(line) : void();
    const auto words = words_of(line.substr(1));
    if (words.size() > 7 && words[0] == "Rank") return read_rank(words);
    if (std::find(words.begin(), words.end(), "size") != words.end() &&
        std::find(words.begin(), words.end(), "algbw") != words.end())
      read_titles(words);
  }

  /// "./build/all_gather_perf -b 8" and "# Collective test starting: all_gather_perf".
  std::optional<std::string_view> named_test(std::string_view line) const {
    for (auto word : words_of(line)) {
      word = word.substr(word.rfind('/') + 1);
      if (word.ends_with("_perf_mpi")) word.remove_suffix(4);
      if (word.ends_with("_perf")) return word;
    }
    return std::nullopt;
  }

  void begin_test(std::string_view name) {
    const auto test = std::find_if(tests.begin(), tests.end(), [&](const auto& row) { return row.first == name; });
    if (test == tests.end()) {
      std::vector<std::string_view> names;
      for (const auto& [known, kind] : tests) names.push_back(known);
      lines_.fail(fmt::format("'{}' measures nothing that plans have; expected {}", name, fmt::join(names, ", ")));
    }
    if (time_column_) ranks_.clear(), hosts_.clear(), device_.clear();
    kind_ = test->second;
    time_column_.reset();
  }

  /// Rank 0 Group 0 Pid 37300 on node-1 device 0 [0000:05:00] AMD Instinct MI300X
  void read_rank(const std::vector<std::string_view>& words) {
    const auto on = std::find(words.begin(), words.end(), "on");
    if (on == words.end() || on + 1 == words.end()) lines_.fail("a rank without its host");
    if (!ranks_.insert(std::string(words[1])).second)
      lines_.fail(fmt::format("a second rank {}: several processes that don't know each other (build the tests with "
                              "MPI=1)", words[1]));
    ++hosts_[std::string(*(on + 1))];
    const auto bus = std::find_if(on, words.end(), [](std::string_view word) { return word.ends_with(']'); });
    if (bus == words.end() || bus + 1 == words.end()) return;
    const std::string device = fmt::format("{}", fmt::join(bus + 1, words.end(), " "));
    if (!device_.empty() && device != device_) lines_.fail(fmt::format("a rank on {}, others on {}", device, device_));
    device_ = device;
  }

  void read_titles(const std::vector<std::string_view>& words) {
    const auto time = std::find(words.begin(), words.end(), "time");
    if (words[0] != "size" || time == words.end()) lines_.fail("expected the columns size … time");
    if (!kind_)
      lines_.fail("which collective? The log names no test (all_reduce_perf, all_gather_perf, …): put the command, or a "
                  "line '# Collective test starting: all_gather_perf', in front");
    if (ranks_.size() < 2) lines_.fail("expected a line '# Rank N … on HOST device …' for each of two or more devices");
    const auto uneven = std::find_if(hosts_.begin(), hosts_.end(),
                                     [&](const auto& host) { return host.second != hosts_.begin()->second; });
    if (uneven != hosts_.end())
      lines_.fail(fmt::format("{} on {} and {} on {}, not the same number on each host",
                              counted(hosts_.begin()->second, "rank"), hosts_.begin()->first, uneven->second,
                              uneven->first));
    titles_ = words.size();
    time_column_ = static_cast<std::size_t>(time - words.begin());
    const auto wrong = std::find(time, words.end(), "#wrong");
    wrong_column_ = wrong == words.end() ? std::nullopt : std::optional<std::size_t>(wrong - words.begin());
  }

  void read_row(std::string_view line) {
    if (line.find(" NCCL ") != line.npos || line.starts_with("NCCL version") || line.starts_with("RCCL version")) return;
    const auto words = words_of(line);
    if (words.size() != titles_)
      lines_.fail(fmt::format("expected a row of {} columns, found {}", titles_, words.size()));
    if (words[0] == "0") return;
    if (wrong_column_ && words[*wrong_column_] != "0" && words[*wrong_column_] != "N/A")
      lines_.fail(fmt::format("#wrong is {}: the collective gave wrong results", words[*wrong_column_]));
    const double bytes = lines_.positive(words[0], "size");
    if (bytes > largest_size) lines_.fail(fmt::format("column size has '{}', more than any memory has", words[0]));
    const double microseconds = lines_.positive(words[*time_column_], "time");
    measurements_.push_back({MeasuredCollective{*kind_, {static_cast<std::int64_t>(bytes)}, static_cast<int>(ranks_.size()),
                                                static_cast<int>(hosts_.size())},
                             {microseconds * 1e-6}, lines_.file(), lines_.number(), device_});
  }

  PlacedLines lines_;
  std::optional<CollectiveKind> kind_;
  std::set<std::string> ranks_;
  std::map<std::string, int> hosts_;  ///< ranks on each
  std::string device_;                ///< "AMD Instinct MI300X"; empty: ranks don't say
  std::optional<std::size_t> time_column_;  ///< of the table that is being read
  std::optional<std::size_t> wrong_column_;  ///< of its first time
  std::size_t titles_ = 0;
  Measurements measurements_;
};

}  // namespace

Measurements read_collective_log(std::string_view text, const std::string& file) {
  return LogReader(text, file).read();
}

}  // namespace shardplan
