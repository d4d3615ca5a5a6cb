#include <fmt/format.h>

#include <cmath>
#include <planner/constraints/divisibility.hpp>
#include <rules/merge_rules.hpp>
#include <rules/resolve.hpp>
#include <shardplan/error.hpp>

namespace shardplan {
namespace {

enum class Role { batch, sequence, other };

struct Dim {
  std::string logical;
  std::int64_t size = 1;
  Role role = Role::other;
};

struct Activation {
  std::string name;
  std::vector<Dim> dims;
};

std::string describe_axes(const AxisList& axes, const Mesh& mesh) {
  std::string text;
  for (const AxisId axis : axes)
    text += fmt::format("{}{}={}", text.empty() ? "" : "·", mesh.axes[axis].name, mesh.size(axis));
  return text;
}

Infeasible in_words(Role role, const Dim& dim, const std::string& tensor, const AxisList& axes, const Mesh& mesh) {
  const std::int64_t shards = mesh.product(axes);
  const std::string split =
      axes.size() == 1 ? describe_axes(axes, mesh) : fmt::format("{} = {}", describe_axes(axes, mesh), shards);
  switch (role) {
    case Role::batch:
      return {ConstraintId::batch_divisibility,
              fmt::format("{} sequences ({} of the {}) can't be split over {}", dim.size, dim.logical, tensor, split),
              shards, dim.size};
    case Role::sequence:
      return {ConstraintId::sequence_divisibility,
              fmt::format("{} positions ({} of the {}) can't be split over {}", dim.size, dim.logical, tensor, split),
              shards, dim.size};
    case Role::other:
      return {ConstraintId::indivisible_dim,
              fmt::format("a dim of {} ({} of the {}) can't be split over {}", dim.size, dim.logical, tensor, split),
              shards, dim.size};
  }
  throw InternalError("unknown Role");
}

std::optional<Infeasible> first_indivisible(const Activation& activation, const Resolver& resolver, const Mesh& mesh) {
  LogicalAxes names;
  for (const auto& dim : activation.dims) names.push_back(dim.logical);
  const PartitionSpec spec = resolver.resolve(names);
  for (std::size_t i = 0; i < activation.dims.size(); ++i) {
    const auto& dim = activation.dims[i];
    if (dim.size % mesh.product(spec.dims[i]) != 0) return in_words(dim.role, dim, activation.name, spec.dims[i], mesh);
  }
  return std::nullopt;
}

Dim batch(std::string logical, std::int64_t size) { return {std::move(logical), size, Role::batch}; }
Dim sequence(std::string logical, std::int64_t size) { return {std::move(logical), size, Role::sequence}; }

std::vector<Activation> attention_activations(const Model& m, std::int64_t b, std::int64_t s) {
  if (m.attention_type == AttentionType::mla)
    return {{"attention input",
             {batch("activation_batch_attn", b), sequence("activation_length", s), {"activation_embed", m.emb}}},
            {"queries",
             {batch("activation_kv_batch", b), sequence("activation_length", s), {"activation_kv_heads", m.q_heads}}}};
  return {{"attention input",
           {batch("activation_batch_attn", b),
            sequence("activation_input_length_attn", s),
            {"activation_embed_attn", m.emb}}},
          {"queries",
           {batch("activation_kv_batch", b),
            sequence("activation_length_attn", s),
            {"activation_kv_heads", m.q_heads},
            {"activation_kv_head_dim", m.head_dim}}},
          {"keys",
           {batch("activation_kv_batch", b),
            sequence("activation_length_attn", s),
            {"activation_kv_heads", m.kv_heads},
            {"activation_kv_head_dim", m.head_dim}}}};
}

std::int64_t mlp_width(const Model& model) {
  return model.shared_experts > 0 ? model.shared_experts * model.moe_mlp : model.mlp;
}

Activation hidden_state(std::int64_t b, std::int64_t s, const Model& model) {
  return {"hidden state",
          {batch("activation_batch", b), sequence("activation_norm_length", s), {"activation_embed", model.emb}}};
}

std::vector<Activation> layer_activations(const Configuration& configuration) {
  const auto& model = configuration.model;
  const std::int64_t b = layer_batch(configuration), s = configuration.config.max_target_length;
  std::vector<Activation> list = attention_activations(model, b, s);
  list.insert(list.begin(), hidden_state(b, s, model));
  if (!model.has_experts() || model.dense_layers() > 0 || model.shared_experts > 0)
    list.push_back(
        {"MLP hidden state",
         {batch("activation_batch", b), sequence("activation_length", s), {"activation_mlp", mlp_width(model)}}});
  if (configuration.config.moe_path == MoePath::dropping)
    list.push_back({"expert mask", {batch("activation_batch_moe", b), sequence("activation_norm_length_moe", s)}});
  return list;
}

std::vector<Activation> outer_activations(const Configuration& configuration) {
  const std::int64_t b = global_batch(configuration), s = configuration.config.max_target_length;
  return {{"input tokens", {batch("activation_embed_and_logits_batch", b), sequence("activation_norm_length", s)}},
          {"logits", {batch("activation_embed_and_logits_batch", b), sequence("activation_length", s)}}};
}

std::optional<Infeasible> first_of(const std::vector<Activation>& list, const RuleSet& rules, const Mesh& mesh) {
  const Resolver resolver(rules, mesh);
  for (const auto& activation : list)
    if (auto violation = first_indivisible(activation, resolver, mesh)) return violation;
  return std::nullopt;
}

// DeepSeek's dense layers run before the pipeline, with stages as data parallelism.
std::optional<Infeasible> outside_pipeline(const Configuration& configuration) {
  const bool has_some = configuration.model.decoder_block.dense_layers_before_pipeline && configuration.model.first_dense_layers > 0;
  if (pipeline_stages(configuration.mesh) == 1 || !has_some) return std::nullopt;
  const auto hidden =
      hidden_state(global_batch(configuration), configuration.config.max_target_length, configuration.model);
  return first_of({hidden}, rules_outside_pipeline(configuration.rules), configuration.mesh);
}

}  // namespace

std::optional<Infeasible> indivisible(const std::string& tensor, const std::vector<std::int64_t>& sizes,
                                      const PartitionSpec& spec, const Mesh& mesh) {
  for (std::size_t i = 0; i < std::min(sizes.size(), spec.dims.size()); ++i) {
    const std::int64_t shards = mesh.product(spec.dims[i]);
    if (sizes[i] % shards == 0) continue;
    return Infeasible{ConstraintId::indivisible_dim,
                      fmt::format("dim {} of {} is {}, which {} can't divide", i, tensor, sizes[i],
                                  describe_axes(spec.dims[i], mesh)),
                      shards, sizes[i]};
  }
  return std::nullopt;
}

std::optional<Infeasible> indivisible_activation(const Configuration& configuration) {
  auto list = outer_activations(configuration);
  for (auto& activation : layer_activations(configuration)) list.push_back(std::move(activation));
  if (auto violation = first_of(list, configuration.rules, configuration.mesh)) return violation;
  return outside_pipeline(configuration);
}

}  // namespace shardplan
