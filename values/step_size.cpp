#include <fmt/format.h>

#include <shardplan/step_size.hpp>
#include <shardplan/error.hpp>

namespace shardplan {

void check_step_size(const TrainConfig& config) {
  if (config.max_target_length > most_tokens_a_device)
    throw InputError(
        fmt::format("max_target_length={}: more than {} tokens", config.max_target_length, most_tokens_a_device));
  const double tokens = config.per_device_batch_size * static_cast<double>(config.max_target_length);
  if (tokens > static_cast<double>(most_tokens_a_device))
    throw InputError(
        fmt::format("per_device_batch_size={:g} of max_target_length={} is {:.3g} tokens a device and pass: "
                    "more than {}",
                    config.per_device_batch_size, config.max_target_length, tokens, most_tokens_a_device));
  if (config.gradient_accumulation_steps > most_accumulation_steps)
    throw InputError(fmt::format("gradient_accumulation_steps={}: more than {}", config.gradient_accumulation_steps,
                                 most_accumulation_steps));
}

}  // namespace shardplan
