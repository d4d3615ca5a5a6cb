#include <algorithm>
#include <array>
#include <cmath>
#include <planner/validate/ablate.hpp>
#include <shardplan/configuration.hpp>

namespace shardplan {
namespace {

constexpr double rounding = 0.0005;  // a twentieth of a percent

/// A record that has a prediction, ready to be costed again.
struct Subject {
  const RecordedProgram& record;
  Configuration configuration;
  RecordErrors errors;
};

RecordErrors errors_of(const RecordScore& score) {
  if (score.refused_too) return {0, 0, *score.refused_too ? 0.0 : 1.0};
  return {score.collectives, score.phases, std::abs(score.memory)};
}

std::vector<Subject> subjects_of(const std::vector<RecordedProgram>& records) {
  std::vector<Subject> subjects;
  for (const auto& record : records) {
    const RecordScore with = score(record);
    if (!with.failure) subjects.push_back({record, configuration_of(record), errors_of(with)});
  }
  return subjects;
}

AblatedRecord without(Habit habit, const Subject& subject) {
  Configuration configuration = subject.configuration;
  configuration.compiler.habits.remove(habit);
  const RecordScore score_without = score(subject.record, configuration);
  return {subject.record.id, subject.errors, errors_of(score_without), score_without.failure};
}

void add(AblatedHabit& ablated, AblatedRecord record) {
  if (record.failure || effect(record) > rounding)
    ablated.worse.push_back(std::move(record));
  else if (effect(record) < -rounding)
    ablated.better.push_back(std::move(record));
}

void sort_by_effect(std::vector<AblatedRecord>& records) {
  std::stable_sort(records.begin(), records.end(), [](const auto& a, const auto& b) {
    return std::abs(effect(a)) > std::abs(effect(b));
  });
}

AblatedHabit ablated(Habit habit, const std::vector<Subject>& subjects) {
  AblatedHabit result{habit, 0, {}, {}};
  for (const auto& subject : subjects) {
    if (!subject.configuration.compiler.has(habit)) continue;
    ++result.programs;
    add(result, without(habit, subject));
  }
  sort_by_effect(result.worse);
  sort_by_effect(result.better);
  return result;
}

}  // namespace

double effect(const AblatedRecord& record) {
  const std::array changes = {record.without.collectives - record.with.collectives,
                              record.without.phases - record.with.phases, record.without.memory - record.with.memory};
  return *std::max_element(changes.begin(), changes.end(),
                           [](double a, double b) { return std::abs(a) < std::abs(b); });
}

std::vector<AblatedHabit> ablate(const std::vector<RecordedProgram>& records) {
  const auto subjects = subjects_of(records);
  std::vector<AblatedHabit> all;
  for (const Habit habit : all_habits()) all.push_back(ablated(habit, subjects));
  return all;
}

}  // namespace shardplan
