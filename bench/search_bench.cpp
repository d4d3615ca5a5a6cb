// How fast configurations are costed, alone and by whole searches. `candidates/core_s` counts configurations costed a
// second of CPU time of all threads; peak_MiB is the process's so far, so that a filter for one search says what that
// one takes (--benchmark_filter=search/llama).
#include <benchmark/benchmark.h>
#include <sys/resource.h>

#include <arguments/plan_arguments.hpp>
#include <arguments/read_configuration.hpp>
#include <hardware/load_profile.hpp>
#include <models/load_model.hpp>
#include <planner/evaluate/evaluate.hpp>
#include <planner/search/plan_machine.hpp>
#include <rules/load_rules.hpp>
#include <string>
#include <vector>

namespace shardplan {
namespace {

struct Usage {
  double cpu_seconds, peak_mebibytes;
};

Usage usage() {
  rusage used{};
  getrusage(RUSAGE_SELF, &used);
  const auto seconds = [](const timeval& time) {
    return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) * 1e-6;
  };
  return {seconds(used.ru_utime) + seconds(used.ru_stime), static_cast<double>(used.ru_maxrss) / 1024};
}

Configuration fsdp_run(const std::string& model, int chips) {
  const std::vector<std::string> words = {"model_name=" + model, "per_device_batch_size=1"};
  return read_configuration(words, {.hardware = "h100", .chips = chips, .slices = {}}, std::nullopt);
}

/// A mesh that nothing is known of yet.
void cost_of_a_mesh(benchmark::State& state, const std::string& model) {
  const Configuration run = fsdp_run(model, static_cast<int>(state.range(0)));
  for (auto _ : state) {
    PreparedMesh mesh;
    benchmark::DoNotOptimize(evaluate_cost(run, mesh));
  }
}

/// Another policy of a mesh, each in turn.
void cost_of_a_policy(benchmark::State& state, const std::string& model) {
  Configuration run = fsdp_run(model, static_cast<int>(state.range(0)));
  const auto policies = named_remat_policies(remat_policies());
  PreparedMesh mesh;
  std::size_t next = 0;
  for (auto _ : state) {
    set_remat(run.config, policies[next++ % policies.size()]);
    benchmark::DoNotOptimize(evaluate_cost(run, mesh));
  }
}

PlanRequest request_for(const std::string& model, const std::string& machine, int chips) {
  PlanRequest request;
  request.model = load_model(model);
  request.machines = {load_profile(machine)};
  request.chips = chips;
  for (const auto& name : published_rule_set_names()) request.rule_sets.push_back(load_rules(name));
  if (request.model.has_experts()) request.moe_paths = {MoePath::dropping, MoePath::ragged, MoePath::ring};
  request.remat_policies = named_remat_policies(remat_policies());
  return with_arguments(std::move(request), GivenArguments(std::vector<std::string>{}, std::nullopt));
}

void search(benchmark::State& state, const std::string& model, const std::string& machine) {
  const PlanRequest request = request_for(model, machine, static_cast<int>(state.range(0)));
  const double before = usage().cpu_seconds;
  double candidates = 0;
  for (auto _ : state) candidates += static_cast<double>(plan(request).machines.front().evaluated);
  const Usage after = usage();
  state.counters["candidates"] = candidates / static_cast<double>(state.iterations());
  state.counters["candidates/core_s"] = candidates / (after.cpu_seconds - before);
  state.counters["peak_MiB"] = after.peak_mebibytes;
}

BENCHMARK_CAPTURE(cost_of_a_mesh, mixtral, "mixtral-8x7b")
    ->RangeMultiplier(8)
    ->Range(8, 65536)
    ->Unit(benchmark::kMicrosecond);
BENCHMARK_CAPTURE(cost_of_a_policy, mixtral, "mixtral-8x7b")
    ->RangeMultiplier(8)
    ->Range(8, 65536)
    ->Unit(benchmark::kMicrosecond);
BENCHMARK_CAPTURE(cost_of_a_policy, llama70b, "llama3.1-70b")
    ->RangeMultiplier(8)
    ->Range(8, 65536)
    ->Unit(benchmark::kMicrosecond);
BENCHMARK_CAPTURE(search, llama8b_v5p, "llama3.1-8b", "tpu-v5p")->Arg(8)->UseRealTime()->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(search, mixtral_mi355x, "mixtral-8x7b", "mi355x")
    ->Arg(8)
    ->UseRealTime()
    ->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(search, llama70b_h100, "llama3.1-70b", "h100")
    ->Arg(64)
    ->Arg(512)
    ->UseRealTime()
    ->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(search, qwen235b_7x, "qwen3-235b-a22b", "tpu-7x")
    ->Arg(256)
    ->UseRealTime()
    ->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(search, deepseek3_v5p, "deepseek3-671b", "tpu-v5p")
    ->Arg(256)
    ->Arg(8192)
    ->UseRealTime()
    ->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(search, mixtral_h100, "mixtral-8x7b", "h100")
    ->Arg(64)
    ->Arg(4096)
    ->UseRealTime()
    ->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace shardplan

BENCHMARK_MAIN();
