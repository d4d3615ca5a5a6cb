#include <algorithm>
#include <models/decoder_block.hpp>
#include <shardplan/error.hpp>

namespace shardplan {
namespace {

constexpr DecoderBlock blocks[] = {
    {"llama2", FeedForward::dense, true},
    {"mistral", FeedForward::dense, true},
    {"mixtral", FeedForward::experts, true},
    {"deepseek", FeedForward::experts, true},
    {"qwen2", FeedForward::dense, true},
    {"qwen3", FeedForward::dense, true},
    {"qwen3_moe", FeedForward::experts, true},
    {"gpt_oss", FeedForward::experts, true, 1},
    {"gpt3", FeedForward::dense, true},
    {"gemma", FeedForward::dense, true},
    {"gemma2", FeedForward::dense, true, 1, 2},
    {"gemma3", FeedForward::dense, true, 5},
    {"olmo3", FeedForward::dense, true, 3},
    {"deepseek4", FeedForward::experts, false},
    {"envy", FeedForward::experts, false},
    {"gemma4", FeedForward::dense, false},  // one of its two shapes has experts; no check depends on it
    {"gemma4_small", FeedForward::dense, false},
    {"llama4", FeedForward::experts, false},
    {"qwen3_custom_moe", FeedForward::experts, false},
    {"qwen3_next", FeedForward::experts, false},
    {"qwen3_5", FeedForward::experts, false},
};

}  // namespace

std::vector<std::string> decoder_block_names() {
  std::vector<std::string> names;
  for (const auto& block : blocks) names.emplace_back(block.name);
  return names;
}

const DecoderBlock& find_decoder_block(const std::string& name, const std::string& place) {
  const auto found =
      std::find_if(std::begin(blocks), std::end(blocks), [&](const auto& block) { return block.name == name; });
  if (found != std::end(blocks)) return *found;
  throw InputError(place + ": " + unknown_name("decoder_block", name, decoder_block_names()));
}

}  // namespace shardplan
