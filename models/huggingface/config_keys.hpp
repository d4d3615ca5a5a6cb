#pragma once
// What the readers of all families share: keys that may be null, switches that must be on or off, the dims that every
// decoder has. Errors name file, key and what was expected.
#include <formats/strict_json.hpp>
#include <shardplan/model.hpp>

namespace shardplan::huggingface {

/// Absent and null mean the same in these files.
bool given(StrictObject& config, const std::string& key);
/// A key that says nothing more here: it counts as read.
void pass_over(StrictObject& config, const std::string& key);
std::int64_t given_integer_or(StrictObject& config, const std::string& key, std::int64_t otherwise);
bool given_flag_or(StrictObject& config, const std::string& key, bool otherwise);

/// A setting that MaxText's block for this architecture has no counterpart of must be off.
void require_off(StrictObject& config, const std::string& key);
/// A switch that is off, and what it would switch on.
void require_off(StrictObject& config, const std::string& key, const std::string& what);
/// A setting that MaxText's block always has.
void require_on(StrictObject& config, const std::string& key);
void require_value(StrictObject& config, const std::string& key, std::int64_t value);

/// The feed-forward is gated in all of these architectures: activation(x·wi_0) * (x·wi_1).
std::vector<std::string> gated_activations(StrictObject& config, const std::string& key);

/// What every decoder has; each architecture adds its own. `width`: the key of its feed-forwards' width.
Model decoder(StrictObject& config, DecoderBlockKind kind, const std::string& width = "intermediate_size");
/// The same with hidden_act and a head_dim that may follow from the heads.
Model silu_decoder(StrictObject& config, DecoderBlockKind kind, const std::string& width = "intermediate_size");

/// Of classes whose head_dim doesn't follow from the heads.
void require_head_dim(StrictObject& config);

/// Where the file lists its layers' kinds, they must be the ones that MaxText's block would build: so many of another kind,
/// then one of full attention.
void check_layer_types(StrictObject& config, int others_per_period, const std::string& other);

/// `locals_per_period` sliding-window layers before each global one; layer_types, where given, must say the same.
Model with_windows(Model model, StrictObject& config, int locals_per_period);

}  // namespace shardplan::huggingface
