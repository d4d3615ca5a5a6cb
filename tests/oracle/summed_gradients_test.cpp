// Which gradients a compiler all-reduces and which it reduce-scatters: the score counts both as one class of traffic, but
// the one moves twice as long.
#include <gtest/gtest.h>

#include <cmath>
#include <planner/evaluate/evaluate.hpp>
#include <planner/validate/score.hpp>
#include <shardplan/error.hpp>

namespace shardplan {
namespace {

/// Behind the forward pass.
template <class Collectives>
double all_reduced(const Collectives& collectives) {
  double bytes = 0;
  for (const auto& c : collectives)
    if (c.kind == CollectiveKind::all_reduce && c.phase != Phase::forward && c.phase != Phase::rematerialized_forward)
      bytes += static_cast<double>(c.bytes.value) * static_cast<double>(c.executions);
  return bytes;
}

const RecordedProgram& record_named(const std::string& id) {
  static const std::vector<RecordedProgram> all = built_in_records();
  for (const RecordedProgram& record : all)
    if (record.id == id) return record;
  throw InternalError("no record " + id);
}

class SummedGradients : public testing::TestWithParam<const char*> {};

TEST_P(SummedGradients, AreOfTheKindThatWasCompiled) {
  const RecordedProgram& record = record_named(GetParam());
  const double recorded = all_reduced(record.collectives);
  const double predicted = all_reduced(evaluate(configuration_of(record)).collectives);
  EXPECT_LE(std::abs(predicted - recorded), 0.03 * recorded) << predicted << " of " << recorded;
}

INSTANTIATE_TEST_SUITE_P(
    Oracle, SummedGradients,
    testing::Values("plan_qwen330ba3b_tpuv6e_128", "plan_llama417b16e_tpuv5p_32", "plan_deepseek3671b_tpuv5p_256",
                    "plan_llama213b_tpuv6e_8", "plan_qwen38b_tpuv6e_32", "plan_gemma327b_tpuv6e_32",
                    "plan_mixtral8x22b_tpu7x_256", "plan_llama213b_tpu7x_256", "plan_gptoss20b_tpu7x_16",
                    "plan_deepseek2236b_tpu7x_256", "plan_gemma312b_tpu7x_64", "plan_qwen3535ba3b_tpu7x_32",
                    "plan_gemma327b_tpu7x_64", "plan_qwen317b_tpuv5p_64_s32768_1M", "plan_llama318b_tpuv6e_32_s32768_4M",
                    "plan_qwen332b_tpuv5p_16_s16384_passes4"),
    [](const auto& record) { return std::string(record.param); });

}  // namespace
}  // namespace shardplan
