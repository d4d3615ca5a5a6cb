#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <planner/evaluate/evaluate.hpp>
#include <arguments/read_configuration.hpp>
#include <planner/validate/score.hpp>
#include <shardplan/error.hpp>

namespace shardplan {
namespace {

constexpr Bytes smallest{64 * 1024};
constexpr double worth_telling = 0.002;

using Traffic = std::map<std::string, std::int64_t>;  ///< bytes × executions of each group

enum class Grouping { by_class, by_phase_and_class };

std::string_view verb_of(TrafficClass traffic) {
  switch (traffic) {
    case TrafficClass::gather:
      return "gather";
    case TrafficClass::reduce:
      return "reduce";
    case TrafficClass::exchange:
      return "exchange";
    case TrafficClass::shift:
      return "shift";
  }
  throw InternalError("unknown TrafficClass");
}

std::string group_of(const RecordedCollective& collective, Grouping grouping) {
  std::vector<std::string> axes = collective.axes;
  std::sort(axes.begin(), axes.end());
  const std::string group = fmt::format("{} {}", verb_of(class_of(collective.kind)), fmt::join(axes, "+"));
  switch (grouping) {
    case Grouping::by_class:
      return group;
    case Grouping::by_phase_and_class:
      return fmt::format("{} {}", name_of(collective.phase), group);
  }
  throw InternalError("unknown Grouping");
}

Traffic traffic(const std::vector<RecordedCollective>& collectives, Grouping grouping) {
  Traffic total;
  for (const auto& collective : collectives)
    if (collective.bytes >= smallest)
      total[group_of(collective, grouping)] += collective.bytes.value * collective.executions;
  return total;
}

std::vector<RecordedCollective> as_recorded(const Evaluation& evaluation) {
  std::vector<RecordedCollective> all;
  for (const auto& c : evaluation.collectives)
    all.push_back({c.phase, c.kind, names_of(c.axes, evaluation.mesh), c.group_size, c.bytes, c.executions});
  return all;
}

std::int64_t sum(const Traffic& traffic) {
  return std::accumulate(traffic.begin(), traffic.end(), std::int64_t{0},
                         [](std::int64_t total, const auto& group) { return total + group.second; });
}

std::vector<GroupDifference> differences(const Traffic& predicted, const Traffic& recorded) {
  std::map<std::string, GroupDifference> groups;
  for (const auto& [group, bytes] : predicted) groups[group].predicted = {bytes};
  for (const auto& [group, bytes] : recorded) groups[group].recorded = {bytes};
  std::vector<GroupDifference> all;
  for (auto& [name, difference] : groups) {
    difference.group = name;
    all.push_back(difference);
  }
  return all;
}

std::int64_t distance(const GroupDifference& d) { return std::abs(d.predicted.value - d.recorded.value); }

double error(const Traffic& predicted, const Traffic& recorded) {
  std::int64_t off = 0;
  for (const auto& difference : differences(predicted, recorded)) off += distance(difference);
  return static_cast<double>(off) / static_cast<double>(std::max<std::int64_t>(1, sum(recorded)));
}

std::vector<GroupDifference> worst_groups(const Traffic& predicted, const Traffic& recorded) {
  auto groups = differences(predicted, recorded);
  const double least = worth_telling * static_cast<double>(sum(recorded));
  std::erase_if(groups, [&](const auto& d) { return static_cast<double>(distance(d)) <= least; });
  std::stable_sort(groups.begin(), groups.end(),
                   [](const auto& a, const auto& b) { return distance(a) > distance(b); });
  return groups;
}

double relative(Bytes predicted, Bytes recorded) {
  return static_cast<double>(predicted.value) / static_cast<double>(std::max<std::int64_t>(1, recorded.value)) - 1;
}

/// A record whose mesh is not the one that its arguments give was not made by them.
void check_mesh(const RecordedProgram& record, const Mesh& mesh) {
  for (const auto& [axis, size] : record.mesh)
    if (mesh.size_of(axis) != size)
      throw InputError(
          fmt::format("{}: recorded mesh has {}={}, its arguments give {}", record.id, axis, size, mesh.size_of(axis)));
}

RecordScore compared(const RecordedProgram& record, const Evaluation& evaluation) {
  RecordScore score{.id = record.id, .refused_too = {}, .worst = {}, .failure = {}};
  if (!record.memory) {
    score.refused_too = evaluation.infeasible && evaluation.infeasible->constraint == ConstraintId::hbm;
    return score;
  }
  const auto predicted = as_recorded(evaluation);
  const Traffic ours = traffic(predicted, Grouping::by_class), theirs = traffic(record.collectives, Grouping::by_class);
  score.collectives = error(ours, theirs);
  score.phases = error(traffic(predicted, Grouping::by_phase_and_class),
                       traffic(record.collectives, Grouping::by_phase_and_class));
  score.worst = worst_groups(ours, theirs);
  score.memory = relative(evaluation.memory.peak(), record.memory->peak);
  const MemoryUse& memory = evaluation.memory;
  const Bytes from_host = evaluation.config.parameter_memory_host_offload ? memory.parameters : Bytes{0};
  score.arguments = relative(memory.arguments() - from_host, record.memory->arguments);
  return score;
}

double median(std::vector<double> values) {
  if (values.empty()) return 0;
  std::sort(values.begin(), values.end());
  const std::size_t middle = values.size() / 2;
  return values.size() % 2 ? values[middle] : (values[middle - 1] + values[middle]) / 2;
}

ScoreSummary summarize(const std::vector<RecordScore>& scores, const std::vector<RecordedProgram>& records) {
  ScoreSummary summary;
  std::vector<double> errors;
  for (std::size_t i = 0; i < scores.size(); ++i) {
    (records[i].memory ? summary.programs : summary.refused) += 1;
    summary.refused_too += scores[i].refused_too.value_or(false);
    if (!records[i].memory || scores[i].failure) continue;
    errors.push_back(scores[i].collectives);
    summary.within_5_percent += scores[i].collectives <= 0.05;
    summary.mean_memory += std::abs(scores[i].memory);
    summary.worst_memory = std::max(summary.worst_memory, std::abs(scores[i].memory));
  }
  summary.scored = static_cast<int>(errors.size());
  summary.median_collectives = median(errors);
  summary.mean_memory /= std::max(1, summary.scored);
  return summary;
}

}  // namespace

Configuration configuration_of(const RecordedProgram& record) {
  Configuration configuration = read_configuration(record.arguments, record.machine, std::nullopt);
  check_mesh(record, configuration.mesh);
  if (configuration.hardware.process_memory_fraction) configuration.memory_limits.process_fraction = record.memory_fraction;
  return configuration;
}

RecordScore score(const RecordedProgram& record, const Configuration& configuration) try {
  return compared(record, evaluate(configuration));
} catch (const InputError& failure) {
  return {.id = record.id, .refused_too = {}, .worst = {}, .failure = failure.what()};
}

RecordScore score(const RecordedProgram& record) try {
  return score(record, configuration_of(record));
} catch (const InputError& failure) {
  return {.id = record.id, .refused_too = {}, .worst = {}, .failure = failure.what()};
}

Validation validate(const std::vector<RecordedProgram>& records) {
  Validation validation;
  for (const auto& record : records) validation.scores.push_back(score(record));
  validation.summary = summarize(validation.scores, records);
  return validation;
}

}  // namespace shardplan
