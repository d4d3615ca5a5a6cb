#pragma once
// Model dims and switches given on the command line, by MaxText's own names (configs/base.yml):
// base_num_decoder_layers=4, logits_via_embedding=true.
#include <cstdint>
#include <shardplan/model.hpp>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace shardplan {

bool is_model_dim(std::string_view key);

/// A switch of the model that arguments may change: fused_qkv, logits_via_embedding. Its override is 0 or 1.
bool is_model_flag(std::string_view key);

/// One that MaxText's own files say, so that arguments need override_model_config=true to say otherwise.
bool is_flag_of_model_files(std::string_view key);

/// One that the model has set and MaxText's layers of it don't have, or refuse; empty: none.
std::string_view impossible_flag(const Model& model);

/// "4", "false".
std::string override_text(const ModelOverride& changed);

/// Whether this model has the dim: q_lora_rank only with latent attention.
bool has_dim(const Model& model, std::string_view key);

/// Whether MaxText's layers and checks of such a model read the dim nowhere, so that any value trains the same: v_head_dim
/// without latent attention.
bool is_unread_dim(const Model& model, std::string_view key);

/// The keys that is_model_dim knows, alphabetical.
std::vector<std::string> model_dims();

/// `model` with one dim replaced. Throws InputError on an unknown key, or a dim that this model does not have.
/// Dims may contradict each other until the last one is set: check_model afterwards, or use with_overrides.
Model with_override(Model model, const std::string& key, std::int64_t value);

/// All of them in turn, then check_model.
Model with_overrides(Model model, const std::vector<std::pair<std::string, std::int64_t>>& overrides);

}  // namespace shardplan
