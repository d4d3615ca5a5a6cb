// When everything of a step runs: as long as the step, one thing at a time on every stream, each wait where its collective
// is still on the network.
#include <gmock/gmock.h>

#include <algorithm>
#include <numeric>
#include <planner/evaluate/evaluate.hpp>

#include "../reading.hpp"

namespace shardplan {
namespace {

struct Case {
  const char* what;
  const char* line;
  MachineChoice machine;
};

const Case cases[] = {
    {"gathers ahead of their iteration",
     "model_name=llama3.1-8b compile_topology=v6e-8 ici_fsdp_parallelism=8 per_device_batch_size=1",
     {}},
    {"experts on GPUs",
     "model_name=mixtral-8x7b ici_expert_parallelism=8 attention=cudnn_flash_te hardware=gpu",
     {"h100", 8, {}}},
    {"a pipeline with a bubble",
     "model_name=llama2-7b compile_topology=v5p-16 ici_pipeline_parallelism=4 ici_fsdp_parallelism=2",
     {}},
    {"weights gathered once for all microbatches",
     "model_name=llama2-7b compile_topology=v5p-16 ici_pipeline_parallelism=4 ici_fsdp_parallelism=2 "
     "pipeline_fsdp_ag_once=true",
     {}},
    {"activations and optimizer on the host",
     "model_name=llama2-7b compile_topology=v5p-8 ici_fsdp_parallelism=4 remat_policy=save_dot_with_context_except_mlp "
     "optimizer_memory_host_offload=true",
     {}},
    {"combined gathers",
     "model_name=llama2-7b hardware=gpu attention=cudnn_flash_te ici_fsdp_parallelism=8 "
     "compile_xla_flags=--xla_gpu_all_gather_combine_threshold_bytes=8589934592",
     {"h100", 8, {}}},
    {"local layers in front of global ones", "model_name=gemma3-4b compile_topology=v5p-16 ici_fsdp_parallelism=8", {}},
};

double sum(const std::vector<TimedMove>& moves) {
  return std::accumulate(moves.begin(), moves.end(), 0.0,
                         [](double s, const TimedMove& m) { return s + m.span.length().value; });
}

TEST(Timeline, TakesAsLongAsTheStep) {
  for (const auto& [what, line, machine] : cases) {
    const Configuration c = read(line, machine);
    const StepTime time = evaluate(c).time;
    const StepTimeline timeline = timeline_of(c);
    EXPECT_NEAR(timeline.seconds().value, time.step().value, 1e-9 * time.step().value) << what;
    double waits = 0, bubble = 0;
    for (const TimedBody& body : timeline.bodies) {
      waits += sum(body.waits) * (body.runs - body.empty_runs);
      bubble += body.length().value * body.empty_runs;
    }
    EXPECT_NEAR(waits, time.exposed_collective.value, 1e-9 * time.step().value) << what;
    EXPECT_NEAR(bubble, time.bubble.value, 1e-9 * time.step().value) << what;
  }
}

/// Ends of spans that lie one behind the other, in the order of their begins.
void expect_one_at_a_time(std::vector<TimeSpan> spans, double end, const std::string& what) {
  std::sort(spans.begin(), spans.end(), [](const TimeSpan& a, const TimeSpan& b) { return a.begin < b.begin; });
  double now = 0;
  for (const TimeSpan& span : spans) {
    EXPECT_GE(span.begin.value, now - 1e-12) << what;
    now = span.end.value;
  }
  EXPECT_LE(now, end + 1e-12) << what;
}

TEST(Timeline, RunsOneThingAtATimeOnEveryStream) {
  for (const auto& [what, line, machine] : cases)
    for (const TimedBody& body : timeline_of(read(line, machine)).bodies) {
      std::vector<TimeSpan> compute, network;
      for (const TimedKernel& kernel : body.kernels) compute.push_back(kernel.span);
      for (const TimedMove& wait : body.waits) compute.push_back(wait.span);
      for (const TimedMove& move : body.moves) network.push_back(move.span);
      expect_one_at_a_time(compute, body.length().value, what);
      expect_one_at_a_time(network, body.length().value, what);
    }
}

TEST(Timeline, WaitsForWhatIsOnTheNetworkThen) {
  for (const auto& [what, line, machine] : cases)
    for (const TimedBody& body : timeline_of(read(line, machine)).bodies)
      for (const TimedMove& wait : body.waits)
        EXPECT_TRUE(std::any_of(body.moves.begin(), body.moves.end(), [&](const TimedMove& move) {
          return move.collectives == wait.collectives && std::abs((move.span.end - wait.span.end).value) < 1e-12;
        })) << what;
}

TEST(Timeline, CombinedCollectivesAreOne) {
  const StepTimeline timeline = timeline_of(read(cases[5].line, cases[5].machine));
  const auto is_combined = [](const TimedMove& move) { return move.collectives.size() > 1; };
  EXPECT_TRUE(std::any_of(timeline.bodies.begin(), timeline.bodies.end(), [&](const TimedBody& body) {
    return std::any_of(body.moves.begin(), body.moves.end(), is_combined);
  }));
}

}  // namespace
}  // namespace shardplan
