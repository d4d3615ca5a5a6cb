#pragma once
// One reader an architecture: the dims and switches of its config.json as a Model without a name.
#include <formats/strict_json.hpp>
#include <shardplan/model.hpp>

namespace shardplan::huggingface {

Model llama(StrictObject& config);
Model mistral(StrictObject& config);
Model mixtral(StrictObject& config);
Model phi3(StrictObject& config);
Model llama4(StrictObject& config);
Model internlm2(StrictObject& config);
Model ernie4_5(StrictObject& config);

Model qwen2(StrictObject& config);
Model seed_oss(StrictObject& config);
Model qwen3(StrictObject& config);
Model qwen3_moe(StrictObject& config);
Model qwen3_next(StrictObject& config);
Model qwen3_5_moe(StrictObject& config);
Model qwen3_vl_moe(StrictObject& config);

Model deepseek(StrictObject& config);
Model deepseek3(StrictObject& config);
Model deepseek32(StrictObject& config);
Model deepseek4(StrictObject& config);

Model gemma(StrictObject& config);
Model gemma2(StrictObject& config);
Model gemma3(StrictObject& config);
Model gemma4(StrictObject& config);

Model olmo2(StrictObject& config);
Model olmo3(StrictObject& config);
Model gpt_oss(StrictObject& config);

}  // namespace shardplan::huggingface
