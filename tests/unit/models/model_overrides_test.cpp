#include <gmock/gmock.h>

#include <models/load_model.hpp>
#include <models/model_overrides.hpp>
#include <shardplan/error.hpp>

namespace shardplan {
namespace {

using testing::HasSubstr;
using testing::ThrowsMessage;

struct Override {
  const char* model;
  const char* key;
  std::int64_t Model::*member;
};

// Every product of dims has to stay within 64 bits.
TEST(ModelOverrides, AreRefusedWhereNothingCouldBeCounted) {
  constexpr std::int64_t huge = 99'999'999'999'999;
  const std::pair<const char*, const char*> rows[] = {{"deepseek2-16b", "shared_experts"},
                                                      {"deepseek2-16b", "mtp_num_layers"},
                                                      {"gpt3-6b", "trainable_position_size"},
                                                      {"deepseek3-671b", "kv_lora_rank"},
                                                      {"gemma4-e2b", "vocab_size_per_layer_input"}};
  for (const auto& [name, key] : rows) {
    const Model model = load_model(name);
    const std::vector<ModelOverride> changed = {ModelOverride(key, huge)};
    EXPECT_THAT([&] { with_overrides(model, changed); },
                ThrowsMessage<InputError>(HasSubstr("more than shardplan can count")))
        << name << " " << key;
  }
}

// Joint heads have no gate of attention's output.
TEST(ModelOverrides, JointHeadsAreOfLayersThatCanHaveThem) {
  const std::vector<ModelOverride> joint = {ModelOverride("fused_qkv", true)};
  EXPECT_TRUE(with_overrides(load_model("qwen3-8b"), joint).fused_qkv);
  for (const char* name : {"qwen3-next-80b-a3b", "qwen3.5-35b-a3b", "deepseek2-16b"})
    EXPECT_THAT([&] { with_overrides(load_model(name), joint); },
                ThrowsMessage<InputError>(HasSubstr("don't have it")))
        << name;
}

TEST(ModelOverrides, EachKeySetsItsDim) {
  constexpr Override table[] = {
      {"llama3-8b", "base_emb_dim", &Model::emb},
      {"llama3-8b", "base_num_query_heads", &Model::q_heads},
      {"llama3-8b", "base_num_kv_heads", &Model::kv_heads},
      {"llama3-8b", "base_mlp_dim", &Model::mlp},
      {"llama3-8b", "base_num_decoder_layers", &Model::layers},
      {"llama3-8b", "head_dim", &Model::head_dim},
      {"llama3-8b", "vocab_size", &Model::vocab},
      {"mixtral-8x7b", "base_moe_mlp_dim", &Model::moe_mlp},
      {"mixtral-8x7b", "num_experts", &Model::num_experts},
      {"mixtral-8x7b", "num_experts_per_tok", &Model::top_k},
      {"deepseek3-671b", "shared_experts", &Model::shared_experts},
      {"deepseek3-671b", "first_num_dense_layers", &Model::first_dense_layers},
      {"deepseek3-671b", "q_lora_rank", &Model::q_lora_rank},
      {"deepseek3-671b", "kv_lora_rank", &Model::kv_lora_rank},
      {"deepseek3-671b", "qk_nope_head_dim", &Model::qk_nope_head_dim},
      {"deepseek3-671b", "qk_rope_head_dim", &Model::qk_rope_head_dim},
      {"deepseek3-671b", "v_head_dim", &Model::v_head_dim},
      {"gemma4-31b", "global_head_dim", &Model::global_head_dim},
      {"gemma4-31b", "global_num_kv_heads", &Model::global_kv_heads},
      {"gemma4-e2b", "num_kv_shared_layers", &Model::kv_shared_layers},
      {"gemma4-e2b", "hidden_size_per_layer_input", &Model::per_layer_dim},
      {"gemma4-e2b", "vocab_size_per_layer_input", &Model::per_layer_vocab},
      {"gpt3-6b", "trainable_position_size", &Model::trainable_position_size},
      {"qwen3-next-80b-a3b", "gdn_conv_kernel_dim", &Model::gdn_conv_kernel_dim},
      {"qwen3-next-80b-a3b", "gdn_key_head_dim", &Model::gdn_key_head_dim},
      {"qwen3-next-80b-a3b", "gdn_value_head_dim", &Model::gdn_value_head_dim},
      {"qwen3-next-80b-a3b", "gdn_num_key_heads", &Model::gdn_num_key_heads},
      {"qwen3.5-35b-a3b", "gdn_num_value_heads", &Model::gdn_num_value_heads},
      {"qwen3.5-35b-a3b", "gdn_chunk_size", &Model::gdn_chunk_size},
      {"deepseek3.2-671b", "indexer_n_heads", &Model::indexer_n_heads},
      {"deepseek3.2-671b", "indexer_head_dim", &Model::indexer_head_dim},
      {"deepseek3.2-671b", "indexer_topk", &Model::indexer_topk},
      {"deepseek3-671b", "mtp_num_layers", &Model::mtp_num_layers},
      {"deepseek4-284b", "first_num_hash_layers", &Model::hash_layers},
      {"deepseek4-284b", "o_groups", &Model::o_groups},
      {"deepseek4-284b", "o_lora_rank", &Model::o_lora_rank},
  };
  for (const auto& row : table) {
    ASSERT_TRUE(is_model_dim(row.key)) << row.key;
    EXPECT_EQ(with_override(load_model(row.model), row.key, 7).*row.member, 7) << row.key;
  }
  EXPECT_EQ(std::size(table) + 2, model_dims().size()) << "every key but those of windows has a row";
}

TEST(ModelOverrides, SetsTheWindowButNotThePattern) {
  const Model model = with_override(load_model("gemma3-4b"), "sliding_window_size", 512);
  EXPECT_EQ(model.attention_pattern.window, 512);
  EXPECT_EQ(model.attention_pattern.locals_per_period, 5);
}

// A window is named after its shape.
TEST(ModelOverrides, SetsTheChunk) {
  EXPECT_EQ(with_override(load_model("llama4-17b-16e"), "chunk_attn_window_size", 512).attention_pattern.window, 512);
  EXPECT_THAT([] { with_override(load_model("llama4-17b-16e"), "sliding_window_size", 512); },
              ThrowsMessage<InputError>(HasSubstr("sliding_window_size: model llama4-17b-16e has no such dim")));
  EXPECT_THAT([] { with_override(load_model("gemma3-4b"), "chunk_attn_window_size", 512); },
              ThrowsMessage<InputError>(HasSubstr("chunk_attn_window_size: model gemma3-4b has no such dim")));
}

TEST(ModelOverrides, Qwen3MoeTakesBothWidthsFromOneKey) {
  const Model model = with_overrides(load_model("qwen3-30b-a3b"), {{"base_moe_mlp_dim", 1024}});
  EXPECT_EQ(model.mlp, 1024);
  EXPECT_EQ(model.moe_mlp, 1024);
}

TEST(ModelOverrides, ChecksOnlyAfterTheLast) {
  const Model model = with_overrides(load_model("llama3-8b"), {{"base_num_query_heads", 6}, {"base_num_kv_heads", 3}});
  EXPECT_EQ(model.q_heads, 6);
  EXPECT_EQ(model.kv_heads, 3);
  EXPECT_THAT(
      [] {
        with_overrides(load_model("llama3-8b"), {{"base_num_query_heads", 6}});
      },
      ThrowsMessage<InputError>(HasSubstr("model llama3-8b: q_heads=6 must be a multiple of kv_heads=8")));
}

TEST(ModelOverrides, RejectsWithAReason) {
  struct Rejected {
    const char* model;
    const char* key;
    std::int64_t value;
    const char* message;
  };
  constexpr Rejected table[] = {
      {"llama3-8b", "base_emb_dims", 8, "unknown model dim 'base_emb_dims'; nearest: base_emb_dim"},
      {"llama3-8b", "max_target_length", 8, "unknown model dim 'max_target_length'"},
      {"llama3-8b", "base_emb_dim", 0, "base_emb_dim: must be at least 1, not 0"},
      {"llama3-8b", "num_experts", 8, "num_experts: model llama3-8b has no such dim"},
      {"llama3-8b", "kv_lora_rank", 8, "kv_lora_rank: model llama3-8b has no such dim"},
      {"llama3-8b", "sliding_window_size", 8, "sliding_window_size: model llama3-8b has no such dim"},
      {"mixtral-8x7b", "first_num_dense_layers", 1, "first_num_dense_layers: model mixtral-8x7b has no such dim"},
      {"mixtral-8x7b", "num_experts", 1, "num_experts: must be at least 2, not 1"},
      {"mixtral-8x7b", "base_mlp_dim", 8, "mlp=8 must equal moe_mlp=14336"},
      {"deepseek3-671b", "num_experts_per_tok", 257, "top_k=257 is more than num_experts=256"},
  };
  for (const auto& row : table)
    EXPECT_THAT(
        [&] {
          with_overrides(load_model(row.model), {{row.key, row.value}});
        },
        ThrowsMessage<InputError>(HasSubstr(row.message)))
        << row.key;
}

TEST(ModelOverrides, KnowsItsKeys) {
  for (const auto& key : model_dims()) EXPECT_TRUE(is_model_dim(key)) << key;
  EXPECT_FALSE(is_model_dim("ici_fsdp_parallelism"));
  EXPECT_FALSE(is_model_dim(""));
}

}  // namespace
}  // namespace shardplan
