#include <algorithm>
#include <map>
#include <planner/evaluate/evaluate.hpp>
#include <planner/validate/error_range.hpp>
#include <planner/validate/memory_ranges.hpp>
#include <planner/validate/score.hpp>
#include <shardplan/error.hpp>

namespace shardplan {
namespace {

using Errors = std::vector<double>;

MemoryError range_of(const Errors& errors) {
  const ErrorRange range = error_range(errors, enough_records);
  return {range.low, range.high, static_cast<int>(errors.size())};
}

MemoryError wider(const MemoryError& own, const MemoryError& family) {
  return {std::min(own.low, family.low), std::max(own.high, family.high), own.records};
}

double error_of(const RecordedProgram& record, const MemoryUse& predicted) {
  const auto real = static_cast<double>((record.memory->peak - record.memory->arguments).value);
  return real / static_cast<double>((predicted.peak() - predicted.arguments()).value) - 1;
}

}  // namespace

std::vector<MemoryRange> memory_ranges(const std::vector<RecordedProgram>& records) {
  std::map<std::string, std::map<MoePath, Errors>> errors;
  std::map<std::string, Errors> of_family;
  for (const RecordedProgram& record : records) {
    if (!record.memory) continue;
    const Configuration configuration = configuration_of(record);
    const double error = error_of(record, evaluate(configuration).memory);
    errors[configuration.compiler.family][configuration.config.moe_path].push_back(error);
    of_family[configuration.compiler.family].push_back(error);
  }
  std::vector<MemoryRange> ranges;
  for (auto& [family, by_path] : errors) {
    MemoryError known = range_of(of_family[family]);
    for (const auto& [path, of_path] : by_path)
      if (of_path.size() >= enough_records) known = wider(known, range_of(of_path));
    for (const MoePath path : all_moe_paths) {
      const MemoryError own = range_of(by_path[path]);
      ranges.push_back({family, path, by_path[path].size() >= enough_records ? own : wider(own, known)});
    }
  }
  return ranges;
}

}  // namespace shardplan
