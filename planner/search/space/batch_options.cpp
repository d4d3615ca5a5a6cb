#include <algorithm>
#include <bit>
#include <numeric>
#include <planner/search/space/batch_options.hpp>
#include <rules/resolve.hpp>
#include <shardplan/batch_split.hpp>
#include <shardplan/rounding.hpp>

namespace shardplan {
namespace {

constexpr std::int64_t most_units = 6144;  // 12 million tokens a device and pass at the default sequence length

/// The smallest in any case: whoever has too many tokens with it says so. The largest that a step may have, too.
std::vector<BatchOption> searched(std::int64_t devices, std::int64_t unit, std::int64_t accumulation,
                                  std::int64_t most_sequences) {
  std::vector<BatchOption> options;
  for (std::int64_t units = 1; units <= most_units; units = next_units(units))
    if (const auto batch = per_device_batch(units * unit, devices);
        batch && (options.empty() || units * unit <= most_sequences))
      options.push_back({*batch, accumulation});
  const auto largest = per_device_batch(std::min(most_sequences / unit, most_units) * unit, devices);
  if (largest && !options.empty() && *largest > options.back().per_device_batch_size)
    options.push_back({*largest, accumulation});
  return options;
}

std::vector<BatchOption> split_in_steps(std::int64_t sequences, std::int64_t devices, std::int64_t unit,
                                        std::int64_t fewest, std::int64_t most) {
  std::vector<BatchOption> options;
  if (sequences % unit != 0) return options;
  const auto counts = divisors_of(sequences / unit);
  for (auto steps = counts.rbegin(); steps != counts.rend(); ++steps) {
    if (*steps < fewest || *steps > most) continue;
    if (const auto batch = per_device_batch(sequences / *steps, devices)) options.push_back({*batch, *steps});
  }
  return options;
}

}  // namespace

std::int64_t next_units(std::int64_t units) {
  if (units == 1) return 2;
  return std::has_single_bit(static_cast<std::uint64_t>(units)) ? units / 2 * 3 : units / 3 * 4;
}

std::optional<double> per_device_batch(std::int64_t sequences, std::int64_t devices) {
  const double batch = static_cast<double>(sequences) / static_cast<double>(devices);
  const bool exact = static_cast<std::int64_t>(static_cast<double>(devices) * batch) == sequences;
  return exact ? std::optional(batch) : std::nullopt;
}

BatchShards batch_shards(const RuleSet& rules, const Mesh& mesh) {
  const auto shards = [&](const char* logical) { return mesh.product(axes_of_rule(rules, mesh, logical)); };
  BatchShards all{1, shards("activation_embed_and_logits_batch")};
  for (const char* logical :
       {"activation_batch", "activation_batch_attn", "activation_kv_batch", "activation_batch_moe"})
    all.layers = std::lcm(all.layers, shards(logical));
  return all;
}

std::int64_t batch_unit(const Model& model, const BatchShards& shards, const Mesh& mesh, const TrainConfig& config) {
  const std::int64_t microbatches = pipeline_stages(mesh) > 1 ? config.num_pipeline_microbatches : 1;
  const std::int64_t parts = model.use_batch_split_schedule ? batch_split_factor : 1;
  return std::lcm(shards.layers * microbatches, shards.logits) * parts;
}

std::int64_t batch_unit(const Model& model, const RuleSet& rules, const Mesh& mesh, const TrainConfig& config) {
  return batch_unit(model, batch_shards(rules, mesh), mesh, config);
}

std::vector<BatchOption> batch_options(const SearchSpace& space, const Mesh& mesh, std::int64_t unit,
                                       std::int64_t accumulation) {
  if (space.per_device_batch) return {{*space.per_device_batch, accumulation}};
  if (!space.global_batch_tokens) {
    const std::int64_t passes = accumulation * space.base.config.max_target_length;
    return searched(mesh.devices(), unit, accumulation, space.max_batch_tokens / passes);
  }
  const std::int64_t sequences = *space.global_batch_tokens / space.base.config.max_target_length;
  auto options = space.accumulation_fixed ? split_in_steps(sequences, mesh.devices(), unit, accumulation, accumulation)
                                          : split_in_steps(sequences, mesh.devices(), unit, 1, sequences);
  const double whole = static_cast<double>(sequences) / static_cast<double>(mesh.devices() * accumulation);
  return options.empty() ? std::vector<BatchOption>{{whole, accumulation}} : options;
}

}  // namespace shardplan
