#include <algorithm>
#include <planner/sweep/answers.hpp>

namespace shardplan {
namespace {

/// Keeps the better of the two; the earlier one where they are equal.
template <class IsBetter>
void keep(std::optional<std::size_t>& best, std::size_t i, const std::vector<SweepRow>& rows, IsBetter is_better) {
  if (!best || is_better(rows[i], rows[*best])) best = i;
}

bool is_smaller(const SweepRow& a, const SweepRow& b) {
  if (a.cell.chips != b.cell.chips) return a.cell.chips < b.cell.chips;
  return a.plan->tokens_per_second > b.plan->tokens_per_second;
}

bool is_cheaper(const SweepRow& a, const SweepRow& b) { return *a.budget->dollars < *b.budget->dollars; }

bool is_faster(const SweepRow& a, const SweepRow& b) { return a.plan->tokens_per_second > b.plan->tokens_per_second; }

bool fits(const SweepRow& row) { return row.plan->fit == Fit::fits; }

template <class Counts>
SweepChoice choose_of(const SweepAnswer& answer, Counts counts) {
  SweepChoice choice;
  for (std::size_t i = 0; i < answer.rows.size(); ++i) {
    const SweepRow& row = answer.rows[i];
    if (!counts(row)) continue;
    ++choice.in_time;
    keep(choice.smallest, i, answer.rows, is_smaller);
    keep(choice.fastest, i, answer.rows, is_faster);
    if (row.budget && row.budget->dollars)
      keep(choice.cheapest, i, answer.rows, is_cheaper);
    else
      ++choice.without_price;
  }
  return choice;
}

SweepChoice choose_for(const SweepAnswer& answer, const SweepGoal& goal, const std::string& model) {
  const auto counts = [&](const SweepRow& row) { return (model.empty() || row.cell.model == model) && meets(row, goal); };
  const SweepChoice sure = choose_of(answer, [&](const SweepRow& row) { return counts(row) && fits(row); });
  return sure.in_time > 0 ? sure : choose_of(answer, counts);
}

}  // namespace

bool meets(const SweepRow& row, const SweepGoal& goal) {
  if (!row.plan) return false;
  return !goal.within || (row.budget && row.budget->duration <= *goal.within);
}

SweepChoice choose(const SweepAnswer& answer, const std::string& model) { return choose_for(answer, answer.goal, model); }

SweepChoice choose_at_any_time(const SweepAnswer& answer, const std::string& model) { return choose_for(answer, {}, model); }

std::vector<std::string> models_of(const SweepAnswer& answer) {
  std::vector<std::string> models;
  for (const SweepRow& row : answer.rows)
    if (std::find(models.begin(), models.end(), row.cell.model) == models.end()) models.push_back(row.cell.model);
  return models;
}

}  // namespace shardplan
