// Each optional field of a model file: a model that has it, and one whose layers would not heed it.
#include <gmock/gmock.h>

#include <models/decoder_block.hpp>
#include <models/load_model.hpp>
#include <models/model_fields.hpp>
#include <models/model_names.hpp>
#include <models/unread_fields.hpp>
#include <set>
#include <shardplan/error.hpp>

#include "model_text.hpp"

namespace shardplan {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

TEST(UnreadFields, NoBuiltInModelHasAny) {
  for (const auto& name : model_names()) EXPECT_THAT(unread_fields(load_model(name)), IsEmpty()) << name;
}

template <class Member>
struct Row {
  const char* key;
  Member Model::*member;
  Member value;
  const char* model;  ///< whose layers don't have it; empty: every model's do
};

template <class Member>
void expect_named(const std::vector<Row<Member>>& rows, std::set<std::string>& seen) {
  for (const auto& [key, member, value, name] : rows) {
    seen.insert(key);
    if (*name == '\0') continue;
    Model model = load_model(name);
    model.*member = value;
    EXPECT_THAT(unread_fields(model), ElementsAre(key)) << name;
    EXPECT_THROW(check_fields_are_read(model, "here"), InputError) << key;
  }
}

// The ones that every model's layers have, and defaults of settings, can't be unread.
TEST(UnreadFields, AreNamed) {
  std::set<std::string> seen;
  expect_named<std::int64_t>(
      {
          {"head_dim", &Model::head_dim, 64, "deepseek2-16b"},  // latent attention has its own
          {"moe_mlp", &Model::moe_mlp, 512, "llama2-7b"},
          {"num_experts", &Model::num_experts, 8, ""},
          {"top_k", &Model::top_k, 2, "llama2-7b"},
          {"shared_experts", &Model::shared_experts, 1, "mixtral-8x7b"},
          {"first_dense_layers", &Model::first_dense_layers, 1, "llama2-7b"},
          {"q_lora_rank", &Model::q_lora_rank, 64, "llama2-7b"},
          {"kv_lora_rank", &Model::kv_lora_rank, 64, "llama2-7b"},
          {"qk_nope_head_dim", &Model::qk_nope_head_dim, 64, "llama2-7b"},
          {"qk_rope_head_dim", &Model::qk_rope_head_dim, 64, "llama2-7b"},
          {"v_head_dim", &Model::v_head_dim, 64, "llama2-7b"},
          {"global_head_dim", &Model::global_head_dim, 64, "llama2-7b"},
          {"global_kv_heads", &Model::global_kv_heads, 8, "llama2-7b"},
          {"kv_shared_layers", &Model::kv_shared_layers, 4, "llama2-7b"},
          {"per_layer_dim", &Model::per_layer_dim, 64, "llama2-7b"},
          {"per_layer_vocab", &Model::per_layer_vocab, 64, "llama2-7b"},
          {"attention_output_dim", &Model::attention_output_dim, 64, "llama2-7b"},
          {"trainable_position_size", &Model::trainable_position_size, 64, ""},
          {"gdn_conv_kernel_dim", &Model::gdn_conv_kernel_dim, 8, "llama2-7b"},
          {"gdn_key_head_dim", &Model::gdn_key_head_dim, 64, "llama2-7b"},
          {"gdn_value_head_dim", &Model::gdn_value_head_dim, 64, "llama2-7b"},
          {"gdn_num_key_heads", &Model::gdn_num_key_heads, 8, "llama2-7b"},
          {"gdn_num_value_heads", &Model::gdn_num_value_heads, 64, "llama2-7b"},
          {"gdn_chunk_size", &Model::gdn_chunk_size, 128, "llama2-7b"},
          {"indexer_n_heads", &Model::indexer_n_heads, 32, "deepseek3-671b"},
          {"indexer_head_dim", &Model::indexer_head_dim, 64, "deepseek3-671b"},
          {"indexer_topk", &Model::indexer_topk, 1024, "deepseek3-671b"},
          {"mhc_expansion_rate", &Model::mhc_expansion_rate, 4, ""},
          {"hash_layers", &Model::hash_layers, 3, "llama2-7b"},
          {"o_groups", &Model::o_groups, 8, "llama2-7b"},
          {"o_lora_rank", &Model::o_lora_rank, 64, "llama2-7b"},
          {"engram_num_heads", &Model::engram_num_heads, 4, "llama2-7b"},
          {"engram_head_dim", &Model::engram_head_dim, 64, "deepseek3-671b"},
          {"engram_kernel_size", &Model::engram_kernel_size, 8, "deepseek3-671b"},
          {"max_target_length", &Model::max_target_length, 64, ""},
      },
      seen);
  using List = std::vector<std::int64_t>;
  expect_named<List>({{"compress_ratios", &Model::compress_ratios, List{0, 4}, "llama2-7b"},
                      {"engram_layers", &Model::engram_layers, List{1}, ""},
                      {"engram_vocab_bases", &Model::engram_vocab_bases, List{100}, "deepseek3-671b"}},
                     seen);
  expect_named<int>({{"sublayers_per_layer", &Model::sublayers_per_layer, 2, ""},
                     {"interleave_moe_step", &Model::interleave_moe_step, 2, "llama2-7b"},
                     {"cycle_interval", &Model::cycle_interval, 2, ""}},
                    seen);
  expect_named<bool>({{"tied_embedding", &Model::tied_embedding, true, ""},
                      {"caps_scores", &Model::caps_scores, true, ""},
                      {"scales_logits", &Model::scales_logits, true, ""},
                      {"caps_logits", &Model::caps_logits, true, ""},
                      {"use_qk_norm", &Model::use_qk_norm, true, "deepseek2-16b"},
                      {"qk_norm_over_all_heads", &Model::qk_norm_over_all_heads, true, "llama2-7b"},
                      {"use_pre_norm", &Model::use_pre_norm, false, ""},
                      {"use_post_attn_norm", &Model::use_post_attn_norm, true, ""},
                      {"use_post_ffw_norm", &Model::use_post_ffw_norm, true, ""},
                      {"layer_norm", &Model::layer_norm, true, ""},
                      {"attention_bias", &Model::attention_bias, true, ""},
                      {"mlp_bias", &Model::mlp_bias, true, ""},
                      {"attention_sink", &Model::attention_sink, true, ""},
          {"interleaved_rotation", &Model::interleaved_rotation, true, "gpt3-6b"},  // which learns positions
                      {"yarn_rotation", &Model::yarn_rotation, true, "llama2-7b"},
                      {"fused_qkv", &Model::fused_qkv, true, "deepseek2-16b"},
                      {"fused_mlp", &Model::fused_mlp, true, "mixtral-8x7b"},  // which has routed experts alone
                      {"routed_bias", &Model::routed_bias, true, "llama2-7b"},
                      {"share_kv_projections", &Model::share_kv_projections, true, "llama2-7b"},
                      {"use_double_wide_mlp", &Model::use_double_wide_mlp, true, "llama2-7b"},
                      {"use_indexer", &Model::use_indexer, true, "llama2-7b"},
                      {"use_batch_split_schedule", &Model::use_batch_split_schedule, true, ""},  // refused elsewhere
                      {"scan_layers", &Model::scan_layers, false, ""}},
                     seen);
  std::set<std::string> fields;
  for (const auto& field : optional_model_dims) fields.insert(field.key);
  for (const auto& field : model_lists) fields.insert(field.key);
  for (const auto& field : model_counts) fields.insert(field.key);
  for (const auto& field : model_flags) fields.insert(field.key);
  EXPECT_EQ(seen, fields);
}

TEST(LayerParts, ModelsOfMaxTextHaveThoseOfTheirBlocks) {
  for (const std::string& name : model_names())
    EXPECT_THAT(parts_that_no_layer_has(load_model(name)), testing::IsEmpty()) << name;
}

// models/llama2.py: two norms in front of its branches, none behind, no biases.
TEST(LayerParts, OthersAreNamed) {
  Model model = load_model("llama2-7b");
  model.use_qk_norm = model.use_post_attn_norm = model.use_post_ffw_norm = model.attention_bias = model.mlp_bias = true;
  model.use_pre_norm = false;
  EXPECT_THAT(parts_that_no_layer_has(model), testing::ElementsAre("use_qk_norm", "use_post_attn_norm", "use_post_ffw_norm",
                                                                   "attention_bias", "mlp_bias", "use_pre_norm"));
  Model mixture = load_model("mixtral-8x7b");
  mixture.mlp_bias = true;  // layers/moe.py
  EXPECT_THAT(parts_that_no_layer_has(mixture), testing::IsEmpty());
}

TEST(UnreadFields, OfAFileAreAnError) {
  const auto path = write_file("unread.json", R"({"source": "made up", "name": "toy", "decoder_block": "llama2",
      "layers": 4, "emb": 64, "q_heads": 4, "kv_heads": 2, "head_dim": 16, "mlp": 128, "vocab": 256,
      "routed_bias": true})");
  try {
    load_model(path);
    FAIL();
  } catch (const InputError& error) {
    EXPECT_THAT(error.what(),
                testing::HasSubstr("routed_bias: the layers of decoder block 'llama2' don't have it"));
  }
}

}  // namespace
}  // namespace shardplan
