#pragma once
// What `shardplan plan` is asked and what it answers; reports render PlanAnswer, search fills it.
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <shardplan/configuration.hpp>
#include <shardplan/evaluation.hpp>
#include <shardplan/settings.hpp>
#include <shardplan/step_size.hpp>
#include <shardplan/answer/what_if.hpp>
#include <string>
#include <vector>

namespace shardplan {

enum class Objective : std::uint8_t {
  throughput,  ///< tokens/s of the whole job
  memory,      ///< least peak memory among those within 10% of the best throughput
  cost,        ///< dollars a token (only machines whose profile has a price)
};
std::string_view name_of(Objective objective);  ///< "throughput"

/// What a search may take; past one of them it answers with the best so far.
struct SearchLimits {
  std::optional<Seconds> time;
  std::optional<Bytes> memory;  ///< of the process
};

/// How far a search is.
struct SearchProgress {
  std::string_view hardware;
  std::int64_t done = 0, of = 0;  ///< shardings: mesh, rules, path and pipeline schedule
  bool bounded = false;           ///< each has been bounded; now the promising ones are costed
};

/// What is asked for beside the recommended plan, or the closest; each has what comes before it.
enum class Beside : std::uint8_t {
  nothing,
  would_fit,     ///< where nothing fits the first changes that would; what is told of a machine beside a better one
  alternatives,  ///< and reasons, the best of each kind of parallelism, what-ifs, the first changes that would fit
  front          ///< of time against memory, and all changes that would fit, with the plan that each would give
};

/// So many changes that would fit are told in a line of text.
inline constexpr std::size_t changes_in_a_line = 2;

/// Values alone: everything was read and checked where it came in.
struct PlanRequest {
  Model model;                                 ///< overrides applied
  std::vector<ModelOverride> model_overrides;  ///< already in `model`
  PassedArguments passed_arguments;            ///< Configuration's
  std::vector<StartCondition> start_conditions;  ///< likewise: what no candidate may break
  std::vector<HardwareProfile> machines;
  std::map<std::string, Compiler> compilers;  ///< by name: those that the machines name
  int chips = 0;
  std::optional<int> slices;  ///< empty: as few as make the chips
  MemoryLimits memory_limits;
  Settings settings;                                ///< hold for every candidate but where the search chooses
  std::optional<double> per_device_batch;           ///< empty: searched
  std::optional<std::int64_t> global_batch_tokens;  ///< fixes batch × sequence × accumulation over the whole job
  std::int64_t max_batch_tokens = usual_most_batch_tokens;  ///< of a step, where the batch is searched
  std::vector<RuleSet> rule_sets;                   ///< to search, as they come; never empty
  ModelRules rule_changes;                          ///< changes in those that are not custom, beside the model's own
  std::vector<AskedSizes> mesh;                     ///< these axes have these sizes, the rest is searched
  std::vector<MoePath> moe_paths;  ///< empty for dense models
  std::vector<RematPolicy> remat_policies;  ///< to search; empty: full alone
  std::optional<Seconds> max_step;          ///< a longer step is no answer
  Objective objective = Objective::throughput;
  int top = 3;  ///< alternatives to keep
  Beside beside = Beside::front;
  SearchLimits limits;
};

/// Called now and then while a search runs, from one thread at a time; may be empty.
using TellProgress = std::function<void(const SearchProgress&)>;

/// A change that would make an infeasible machine run the model: {"--chips 16"}, {"optimizer state in bfloat16
/// (mu_dtype=bfloat16)"}.
struct WouldFit {
  std::string change;
  std::optional<Evaluation> evaluation;  ///< what it would give, where Beside::front is asked for
};

struct RejectionCount {
  ConstraintId constraint = ConstraintId::hbm;
  std::int64_t candidates = 0;
  std::string example;  ///< one message with its numbers
};

/// A kind of parallelism, whatever else a mesh has.
enum class Strategy : std::uint8_t { data_and_fsdp, tensor, context, expert, pipeline };
std::string_view name_of(Strategy strategy);  ///< "tensor", "data·fsdp"

/// The fastest plan of one kind of parallelism, and what it loses against the recommended one.
struct StrategyPlan {
  Strategy strategy;
  double slower;         ///< share by which a token takes longer: 0.147
  std::string why;       ///< "12.1% of a step in exposed communication"; empty when it isn't slower
  std::string pipeline;  ///< "4 repeats of 5 layers a stage, 8 microbatches: bubble 8.4%, permutes 1.6% if none hid"
  Evaluation evaluation;
};

/// What a search left when it reached one of its limits.
struct Unfinished {
  bool for_memory = false;       ///< which limit; else the time
  std::int64_t left = 0, of = 0;  ///< shardings: mesh, rules, path and pipeline schedule
};

struct MachinePlan {
  std::string hardware;
  std::optional<Evaluation> recommended;   ///< empty: nothing fits
  std::string change_of_training;          ///< of the recommended plan: "trains another model than …"; "": none
  std::optional<Evaluation> marginal;      ///< faster, expected to fit, but not surely
  std::vector<Evaluation> alternatives;    ///< next best with a different mesh, rules or path; best first
  std::vector<StrategyPlan> strategies;    ///< the best of each kind of parallelism that fits, fastest first
  std::vector<Evaluation> pareto;          ///< time against memory, fastest first; where Beside::front is asked for
  std::vector<WhatIf> what_ifs;            ///< of the recommended plan
  std::vector<std::string> reasons;        ///< what dominates, why not the next one
  std::vector<RejectionCount> rejections;  ///< why candidates were dropped, most frequent first
  std::int64_t evaluated = 0;  ///< configurations, those tried for would_fit among them
  std::int64_t fitting = 0;    ///< of those that answer the request as it is
  double search_seconds = 0;
  std::optional<Unfinished> unfinished;  ///< empty: the search is complete
  std::optional<double> dollars_per_million_tokens;  ///< of the recommended plan, where the machine has a price
  std::optional<Evaluation> closest;  ///< nothing fits: the one with the least memory
  std::optional<Infeasible> kept_free;  ///< of a closest one that is expected to be within the memory: what it has to leave
  std::vector<WouldFit> would_fit;
  std::string refused;  ///< the machine can't be planned at all ("no slice of 6 chips; nearest 4, 8")

  /// Why what is closest is no answer; null where there is none.
  const Infeasible* shortage() const {
    if (!closest) return nullptr;
    if (closest->infeasible) return &*closest->infeasible;
    return kept_free ? &*kept_free : nullptr;
  }

  /// Whether what is closest may fit, though nothing is expected to.
  bool closest_may_fit() const {
    return shortage() && shortage()->constraint == ConstraintId::hbm && closest->memory.fit() == Fit::marginal;
  }
};

struct PlanAnswer {
  std::string model;
  int chips = 0;
  Objective objective = Objective::throughput;  ///< what the machines are sorted by
  std::vector<MachinePlan> machines;  ///< best first; those where nothing fits last

  /// Whoever says a price wants to see what it makes.
  bool shows_cost() const {
    for (const MachinePlan& machine : machines)
      if (machine.dollars_per_million_tokens) return true;
    return objective == Objective::cost;
  }
};

/// Searches every valid mesh × rule set × MoE path × remat policy × per-device batch on each machine.
PlanAnswer plan(const PlanRequest& request, const TellProgress& tell = {});

}  // namespace shardplan
