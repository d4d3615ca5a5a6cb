#pragma once
// The settings of a run with the knowledge which of them somebody asked for: the others are free to be chosen.
#include <algorithm>
#include <cstdint>
#include <shardplan/compiler/compiler.hpp>
#include <shardplan/model.hpp>
#include <shardplan/train_config.hpp>
#include <string>
#include <variant>
#include <vector>

namespace shardplan {

/// The member of TrainConfig that a MaxText argument sets. Its type says how the value is read and printed.
using SettingField = std::variant<bool TrainConfig::*, std::int64_t TrainConfig::*, double TrainConfig::*,
                                  DType TrainConfig::*, AttentionKernel TrainConfig::*, ContextStrategy TrainConfig::*,
                                  CustomMesh TrainConfig::*, Quantization TrainConfig::*, Calibration TrainConfig::*,
                                  MixedPrecision TrainConfig::*>;

struct Settings {
  TrainConfig config;  ///< complete: what nobody asked for has the model's or MaxText's default
  std::vector<SettingField> asked;

  bool says(SettingField field) const { return std::find(asked.begin(), asked.end(), field) != asked.end(); }

  /// As if it had been asked for. mu_dtype follows weight_dtype unless it is asked for itself, as in MaxText.
  template <class Value>
  void set(Value TrainConfig::*field, Value value) {
    config.*field = std::move(value);
    if (!says(field)) asked.push_back(field);
    if (!says(&TrainConfig::mu_dtype)) config.mu_dtype = config.weight_dtype;
  }
};

/// The compiler's kernels where nobody asked for others: on GPUs Transformer Engine's attention, which the partitioner
/// can split (attention=autoselected is computed whole on every device), with the number of documents that its packed
/// layout needs, and jax.lax.ragged_dot instead of megablox. A model with attention sinks gets a kernel that knows them;
/// what MaxText writes in tokamax's kernel alone has its switch on.
TrainConfig with_kernels(const Settings& settings, const Kernels& kernels, const Model& model);

/// The same of attention alone, of a run of those settings that `config` has otherwise completed.
TrainConfig with_attention_kernel(TrainConfig config, const Settings& settings, const Kernels& kernels, const Model& model);

/// MaxText writes ring, ulysses and usp attention on TPU, and the masks of indexers, in the Tokamax kernel alone, and wants
/// to be told (configs/types.py).
bool needs_tokamax(const TrainConfig& config, const Kernels& kernels, const Model& model);

/// Whether blocks of that kernel have to be narrow_tile queries for the gradients of keys and values to compile.
bool needs_narrow_tiles(const TrainConfig& config, const Kernels& kernels, const Model& model);
inline constexpr std::int64_t narrow_tile = 256;

/// The number of documents in a sequence for a kernel that packs only so many, where nobody said it: MaxText has no
/// default that starts, and the number costs nothing.
TrainConfig with_packed_segments(TrainConfig config, const Settings& settings, const Kernels& kernels);

}  // namespace shardplan
