// What each context_parallel_strategy asks for (MaxText configs/types.py, the checks of context_parallel_strategy and
// _validate_usp_context_parallelism).
#include <fmt/format.h>

#include <planner/constraints/constraints.hpp>
#include <planner/constraints/violation.hpp>
#include <rules/sequence_axis.hpp>

namespace shardplan {
namespace {

struct Context {
  const Configuration& c;
  ContextStrategy strategy;
  std::string_view axis;
  std::int64_t size, ulysses, length;
};

Context context_of(const Configuration& c) {
  const std::string_view axis = sequence_axis(c.rules);
  return {c,
          c.config.context_parallel_strategy,
          axis,
          c.mesh.size_of(axis),
          c.mesh.size_of(AxisRole::context_usp_ulysses),
          c.config.max_target_length};
}

Infeasible broken(const Context& context, const std::string& rest, std::int64_t needed, std::int64_t available) {
  return {ConstraintId::context_strategy, fmt::format("context_parallel_strategy={} {}", name_of(context.strategy), rest),
          needed, available};
}

Violation needs_more_than_one(const Context& context, AxisRole axis, std::int64_t size) {
  if (size > 1) return std::nullopt;
  return broken(context, fmt::format("needs {} above 1, not {}", name_of(axis), size), 2, size);
}

Violation needs_multiple(const Context& context, const char* what, std::int64_t value, std::int64_t of) {
  if (value % of == 0) return std::nullopt;
  return broken(context, fmt::format("needs {} to be a multiple of {}, not {}", what, of, value), of, value);
}

Violation needs_flash_on_context(const Context& context) {
  if (axis_role(context.axis) != AxisRole::context)
    return broken(context, fmt::format("needs the sequence on axis context, not {}", context.axis), 1, 0);
  if (context.c.config.attention != AttentionKernel::flash)
    return broken(context, fmt::format("needs attention=flash, not {}", name_of(context.c.config.attention)), 1, 0);
  return std::nullopt;
}

Violation needs_no_sinks(const Context& context) {
  if (!context.c.model.attention_sink) return std::nullopt;
  return broken(context, fmt::format("does not know attention sinks, which {} has", context.c.model.name), 1, 0);
}

Violation needs_tpu(const Context& context) {
  if (context.c.compiler.kernels.has_tokamax_splash) return std::nullopt;
  return broken(context, fmt::format("is for TPUs, not {}", context.c.hardware.name), 1, 0);
}

Violation needs_global_attention(const Context& context) {
  if (context.c.model.attention_type == AttentionType::global) return std::nullopt;
  return broken(context, "needs global attention, not mla", 1, 0);
}

// layers/attention_op.py, AttentionOp.__init__, asks it of each layer.
Violation needs_no_windows(const Context& context) {
  if (context.c.model.attention_pattern.locals_per_period == 0) return std::nullopt;
  return broken(context, fmt::format("knows no layers with a sliding window, which {} has", context.c.model.name), 0, 1);
}

Violation needs_no_packing_of_latents(const Context& context) {
  if (context.c.model.attention_type != AttentionType::mla || !context.c.config.packing) return std::nullopt;
  return broken(context, "with latent attention needs packing=false", 0, 1);
}

Violation needs_one_slice(const Context& context) {
  for (const auto& axis : context.c.mesh.axes)
    if (family_of(axis.role) == AxisFamily::context && axis.dcn > 1)
      return broken(context, fmt::format("can't span slices, but dcn_{}_parallelism={}", axis.name, axis.dcn), 1,
                    axis.dcn);
  return std::nullopt;
}

Violation needs_even_if_balanced(const Context& context) {
  if (!context.c.config.context_parallel_load_balance || context.size % 2 == 0) return std::nullopt;
  return broken(context, fmt::format("balances load over an even number of devices, not {}", context.size), 2,
                context.size);
}

Violation needs_unbalanced(const Context& context) {
  if (!context.c.config.context_parallel_load_balance) return std::nullopt;
  return broken(context, "needs context_parallel_load_balance=false", 0, 1);
}

Violation needs_grouped_heads(const Context& context, std::int64_t shards) {
  const Mesh& mesh = context.c.mesh;
  const std::int64_t tensor = mesh.product(mesh.axes_of(AxisFamily::tensor));
  if (auto violation = needs_multiple(context, "query heads", context.c.model.q_heads, shards * tensor))
    return violation;
  return needs_multiple(context, "KV heads", context.c.model.common_kv_heads(), shards * tensor);
}

Violation first(std::initializer_list<Violation> violations) {
  for (const auto& violation : violations)
    if (violation) return violation;
  return std::nullopt;
}

// What no mesh and no kernel mends is said first.

Violation ring(const Context& context) {
  if (needs_tpu(context)) return std::nullopt;  // GPU kernels ring inside Transformer Engine
  return first({needs_no_windows(context), needs_no_sinks(context),
                needs_more_than_one(context, AxisRole::context, context.size), needs_flash_on_context(context),
                needs_multiple(context, "max_target_length", context.length, context.size * context.size),
                needs_even_if_balanced(context), needs_no_packing_of_latents(context)});
}

Violation ulysses(const Context& context) {
  return first({needs_tpu(context), needs_global_attention(context), needs_no_windows(context), needs_no_sinks(context),
                needs_more_than_one(context, AxisRole::context, context.size), needs_flash_on_context(context),
                needs_one_slice(context), needs_unbalanced(context),
                needs_multiple(context, "max_target_length", context.length, context.size),
                needs_grouped_heads(context, context.size)});
}

Violation usp(const Context& context) {
  return first({needs_tpu(context), needs_global_attention(context), needs_no_windows(context), needs_no_sinks(context),
                needs_more_than_one(context, AxisRole::context, context.size),
                needs_more_than_one(context, AxisRole::context_usp_ulysses, context.ulysses),
                needs_flash_on_context(context), needs_one_slice(context), needs_even_if_balanced(context),
                needs_multiple(context, "max_target_length", context.length, context.size * context.ulysses),
                needs_multiple(context, "max_target_length", context.length, context.size * context.size),
                needs_grouped_heads(context, context.ulysses)});
}

}  // namespace

std::optional<Infeasible> context_violation(const Configuration& configuration) {
  const Context context = context_of(configuration);
  if (context.strategy == ContextStrategy::usp) return usp(context);
  if (context.ulysses > 1)
    return broken(context, fmt::format("leaves no use for context_usp_ulysses={}; only usp has", context.ulysses), 1,
                  context.ulysses);
  if (context.strategy == ContextStrategy::ring) return ring(context);
  if (context.strategy == ContextStrategy::ulysses) return ulysses(context);
  return std::nullopt;
}

}  // namespace shardplan
