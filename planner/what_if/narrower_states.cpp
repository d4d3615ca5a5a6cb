#include <planner/what_if/narrower_states.hpp>

namespace shardplan {
namespace {

template <auto field, auto value>
constexpr NarrowerState state(std::string_view name, std::string_view remedy) {
  return {name, remedy, field, [](Settings& settings) { settings.set(field, value); }};
}

constexpr NarrowerState states[] = {
    state<&TrainConfig::mu_dtype, DType::bf16>("first moment in bfloat16",
                                               "first optimizer moment in bfloat16 (mu_dtype=bfloat16)"),
    state<&TrainConfig::weight_dtype, DType::bf16>("weights and moments in bfloat16",
                                                   "weights and both moments in bfloat16 (weight_dtype=bfloat16)"),
    state<&TrainConfig::optimizer_memory_host_offload, true>(
        "optimizer in host memory", "optimizer state in host memory (optimizer_memory_host_offload=true)"),
};

}  // namespace

std::span<const NarrowerState> narrower_states() { return states; }

}  // namespace shardplan
