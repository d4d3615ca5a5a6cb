#include <fmt/format.h>

#include <algorithm>
#include <planner/what_if/changes.hpp>
#include <planner/what_if/narrower_states.hpp>
#include <shardplan/collective/counted.hpp>
#include <shardplan/attention/splash_blocks.hpp>

namespace shardplan {
namespace {

RunChange with_batch(const Configuration& configuration, double factor, const char* words) {
  RunChange change{WhatIfKind::batch, "", configuration};
  double& batch = change.configuration.config.per_device_batch_size;
  batch *= factor;
  change.words = fmt::format("{} the batch: {} a device", words, counted(batch, "sequence"));
  return change;
}

RunChange in_more_passes(const Configuration& configuration) {
  RunChange change{WhatIfKind::batch, "", configuration};
  TrainConfig& config = change.configuration.config;
  config.per_device_batch_size /= 2;
  config.gradient_accumulation_steps *= 2;
  change.words = fmt::format("the same batch in {} passes", config.gradient_accumulation_steps);
  return change;
}

RunChange with_length(const Configuration& configuration, std::int64_t length) {
  RunChange change{WhatIfKind::sequence, fmt::format("sequences of {} tokens", length), configuration};
  change.configuration.config.max_target_length = length;
  return change;
}

/// As if its own mu_dtype had been asked for; one that is weight_dtype's follows it.
Settings settings_of(const TrainConfig& config) {
  Settings settings{config, {}};
  if (config.mu_dtype != config.weight_dtype) settings.asked.push_back(&TrainConfig::mu_dtype);
  return settings;
}

}  // namespace

std::vector<RunChange> other_remat_policies(const Configuration& configuration) {
  std::vector<RunChange> changes;
  for (const RematPolicy& policy : named_remat_policies(remat_policies())) {
    if (policy.saved == configuration.config.saved) continue;
    changes.push_back({WhatIfKind::remat, "remat_policy=" + policy.name, configuration});
    set_remat(changes.back().configuration.config, policy);
  }
  return changes;
}

std::vector<RunChange> other_batches(const Configuration& configuration) {
  return {with_batch(configuration, 2, "twice"), with_batch(configuration, 0.5, "half"), in_more_passes(configuration)};
}

std::vector<RunChange> other_sequences(const Configuration& configuration) {
  const std::int64_t length = configuration.config.max_target_length;
  std::vector<RunChange> changes = {with_length(configuration, 2 * length)};
  if (length % 2 == 0) changes.push_back(with_length(configuration, length / 2));
  return changes;
}

std::vector<RunChange> other_states(const Configuration& configuration) {
  std::vector<RunChange> changes;
  for (const NarrowerState& state : narrower_states()) {
    Settings settings = settings_of(configuration.config);
    state.set(settings);
    if (settings.config == configuration.config) continue;
    changes.push_back({WhatIfKind::state, std::string(state.name), configuration});
    changes.back().configuration.config = std::move(settings.config);
  }
  return changes;
}

std::vector<RunChange> other_attention_blocks(const Configuration& configuration) {
  std::vector<RunChange> changes;
  for (const SplashBlocks& blocks : splash_blocks_of(configuration.config, configuration.compiler, configuration.model)) {
    TrainConfig config = with_splash_blocks(configuration.config, blocks);
    if (config == configuration.config) continue;
    changes.push_back({WhatIfKind::blocks, "attention in " + describe_splash_blocks(config), configuration});
    changes.back().configuration.config = std::move(config);
  }
  return changes;
}

std::vector<RunChange> other_flags(const Configuration& configuration, const std::vector<FlagWorth>& weighed) {
  std::vector<RunChange> changes;
  for (const FlagWorth& worth : weighed) {
    std::vector<CompilerFlag> flags = flags_of(configuration);
    if (worth.given)
      std::erase_if(flags, [&](const CompilerFlag& flag) { return flag.name == worth.flag.name; });
    else
      flags.push_back(worth.flag);
    changes.push_back({WhatIfKind::flag, (worth.given ? "without " : "with ") + print_flag(worth.flag), configuration});
    Compiler& compiler = changes.back().configuration.compiler;
    compiler = with_flags(compiler, std::move(flags));
  }
  return changes;
}

}  // namespace shardplan
