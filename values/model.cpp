#include <numeric>
#include <shardplan/error.hpp>
#include <shardplan/model.hpp>

namespace shardplan {

std::string_view name_of(AttentionType type) {
  switch (type) {
    case AttentionType::global:
      return "global";
    case AttentionType::mla:
      return "mla";
    case AttentionType::compressed:
      return "compressed";
  }
  throw InternalError("unknown AttentionType");
}

// SHARDING.md section 5: deepseek keeps its first layers dense, llama4 and envy interleave, the rest are all or
// nothing.
std::int64_t Model::moe_layers() const {
  if (!has_experts()) return 0;
  if (first_dense_layers > 0) return layers - first_dense_layers;
  return layers / interleave_moe_step;
}

int Model::layer_period() const { return std::lcm(attention_pattern.locals_per_period + 1, interleave_moe_step); }

std::int64_t Model::common_kv_heads() const { return std::gcd(kv_heads, global_kv_heads); }

std::int64_t Model::dense_layers() const { return layers - moe_layers(); }

}  // namespace shardplan
