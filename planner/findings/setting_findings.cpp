// Findings about rules and settings that take effect differently than they read.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <planner/findings/finding_rules.hpp>
#include <planner/findings/sparse_path.hpp>
#include <planner/words/finding_words.hpp>
#include <rules/resolve.hpp>

namespace shardplan {

/// custom_mesh_and_rule is applied after the model's own rules were merged, and replaces all of them.
MaybeFinding custom_rules_drop_model_rules(const FindingSubject& s) {
  const Model& model = s.configuration.model;
  if (!s.rules().custom || (model.rules.rules.empty() && !model.rules.override_rules)) return std::nullopt;
  return Finding{FindingId::custom_rules_drop_model_rules,
                 model.rules.override_rules ? Severity::warning : Severity::note,
                 fmt::format("custom_mesh_and_rule replaces all rules, {}'s own included: its {} of {} {} no effect",
                             model.name, model.rules.rules.size() == 1 ? "rule" : "rules",
                             model.rules.rules.empty() ? "nothing" : model.rules.rules.front().logical,
                             model.rules.rules.size() == 1 ? "has" : "and others have"),
                 s.rules().name,
                 {},
                 "copy the model's rules into the custom set",
                 model.rules.rules};
}

/// With vocabulary tiling the logits' batch and sequence are one dim with a rule of its own.
MaybeFinding logits_sequence_gathered(const FindingSubject& s) {
  if (s.config().num_vocab_tiling <= 1) return std::nullopt;
  const AxisList kept = axes_of_rule(s.rules(), s.mesh(), "activation_embed_and_logits_batch_sequence");
  const AxisList lost = without(axes_of_rule(s.rules(), s.mesh(), "activation_length"), kept);
  if (lost.empty()) return std::nullopt;
  const auto axes = names_of(lost, s.mesh());
  const std::string named = join_axes(axes);
  return Finding{FindingId::logits_sequence_gathered,
                 Severity::warning,
                 fmt::format("rule activation_embed_and_logits_batch_sequence of '{}' leaves out '{}', which splits "
                             "the sequence: with num_vocab_tiling={} the hidden state is gathered over it before the "
                             "logits and every device of that axis computes the same tiles",
                             s.rules().name, named, s.config().num_vocab_tiling),
                 "logits_dense",
                 axes,
                 "add '" + named + "' to rule activation_embed_and_logits_batch_sequence",
                 rules_named(s.rules(), {"activation_embed_and_logits_batch_sequence", "activation_length"})};
}

/// In explicit mode the DeepSeek decoder names the MLP hidden state (batch, norm_length, mlp) where others name it
/// (batch, length, mlp). Rule activation_mlp comes first and takes tensor_sequence, size 1 or not, so the tuple of
/// activation_norm_length is skipped whole.
MaybeFinding context_lost_in_explicit_mode(const FindingSubject& s) {
  if (!s.config().shard_mode_explicit || !s.configuration.model.decoder_block.explicit_mlp_by_norm_length)
    return std::nullopt;
  const auto sequence_axes = [&](const char* length) {
    return resolve({"activation_batch", length, "activation_mlp"}, s.rules(), s.mesh()).dims[1];
  };
  const AxisList wanted = sequence_axes("activation_length"), actual = sequence_axes("activation_norm_length");
  if (wanted.empty() || !actual.empty()) return std::nullopt;
  const auto axes = names_of(wanted, s.mesh());
  return Finding{
      FindingId::context_lost_in_explicit_mode,
      Severity::warning,
      fmt::format("shard_mode=explicit: the DeepSeek decoder names its MLP hidden state activation_norm_length, "
                  "whose rule is skipped because activation_mlp took tensor_sequence first: '{}' no longer "
                  "splits the sequence there",
                  join_axes(axes)),
      "mlp",
      axes,
      "shard_mode=auto, or move activation_norm_length before activation_mlp",
      rules_named(s.rules(), {"activation_mlp", "activation_norm_length"})};
}

/// What is known of pipelines in explicit mode: docs/cost-model.md.
MaybeFinding explicit_pipeline(const FindingSubject& s) {
  const PipelineShape& shape = s.program.program->pipeline;
  if (!s.config().shard_mode_explicit || shape.stages == 1) return std::nullopt;
  const Traffic moved =
      traffic_of(s, is_of_layer_stack);
  const std::string stack =
      moved.empty() ? ""
                    : fmt::format(", and the gradients of all layers move between stages and repeats as often, {}",
                                  in_words(moved));
  return Finding{FindingId::explicit_pipeline,
                 Severity::warning,
                 fmt::format("shard_mode=explicit: MaxText e591f30cb's pipeline does not trace with JAX 0.10.2 or "
                             "0.12.0.1 (ShardingTypeError). Counted here is the program that it compiles to once "
                             "repaired: weight gradients are summed in each of {} iterations{}; memory comes out "
                             "6-11% low. Where it ran (PR #2744, December 2025) a step took 1.5 times auto's with "
                             "fsdp, 1.14 times with ZeRO-1",
                             shape.iterations(), stack),
                 "pipeline_module/layers",
                 names_of({AxisRole::stage}),
                 "shard_mode=auto"};
}

/// What leaves the experts' shard_map is laid out as (batch, norm_length, activation_embed); inside, only the axis tensor
/// scatters its features (MaxText layers/moe.py). Compiled with rules that give them to expert: "add got incompatible
/// shapes".
MaybeFinding expert_rows_returned_whole(const FindingSubject& s) {
  if (!s.config().runs_sparse_experts()) return std::nullopt;
  AxisList split = resolve({"activation_batch", "activation_norm_length", "activation_embed"}, s.rules(), s.mesh()).dims[2];
  if (const auto tensor = s.mesh().find(AxisRole::tensor)) split = without(split, {*tensor});
  if (split.empty()) return std::nullopt;
  const auto axes = names_of(split, s.mesh());
  return Finding{FindingId::expert_rows_returned_whole,
                 Severity::error,
                 fmt::format("rule activation_embed of '{}' splits features over {}, but MaxText's sparse experts return "
                             "them whole there: the run stops at start-up. Counted is a program that scatters them",
                             s.rules().name, join_axes(axes)),
                 "MoeBlock_0",
                 axes,
                 dropping_path_words(),
                 rules_named(s.rules(), {"activation_embed"})};
}

MaybeFinding quantized_experts_need_linen(const FindingSubject& s) {
  const TrainConfig& config = s.config();
  if (!config.quantizes_experts_in_linen() || !config.enable_nnx) return std::nullopt;
  return Finding{FindingId::quantized_experts_need_linen,
                 Severity::warning,
                 fmt::format("quantization={} with sparse_matmul=false: MaxText e591f30cb quantizes the experts' einsums "
                             "in Linen modules, which its NNX layers can't call. Counted is the same program of Linen "
                             "modules, and printed commands ask for them",
                             name_of(config.quantization)),
                 "MoeBlock_0",
                 {},
                 std::string(linen_words)};
}

MaybeFinding mixed_precision_needs_linen(const FindingSubject& s) {
  const TrainConfig& config = s.config();
  if (config.quantization != Quantization::intmp || !config.enable_nnx) return std::nullopt;
  return Finding{FindingId::mixed_precision_needs_linen,
                 Severity::warning,
                 "quantization=intmp: MaxText e591f30cb looks its layers up among Linen modules, of which NNX has none "
                 "(AttributeError: 'NoneType' object has no attribute 'path'). Counted is the same program of Linen "
                 "modules, and printed commands ask for them",
                 "decoder/layers",
                 {},
                 std::string(linen_words)};
}

MaybeFinding mixed_precision_names_nothing(const FindingSubject& s) {
  const MixedPrecision& precision = s.config().quant_cfg_path;
  if (s.config().quantization != Quantization::intmp || precision.unmatched.empty()) return std::nullopt;
  const auto bits = [](const std::optional<int>& of) { return of ? fmt::format("{} bits", *of) : "as they are"; };
  return Finding{FindingId::mixed_precision_names_nothing,
                 Severity::warning,
                 fmt::format("{} of {} {} no module of a training run, where all products of layers are those of "
                             "decoder/layers: weights {}, activations {}",
                             fmt::join(precision.unmatched, ", "), precision.path,
                             precision.unmatched.size() == 1 ? "is" : "are", bits(precision.weight_bits),
                             bits(precision.activation_bits)),
                 "decoder/layers",
                 {},
                 "__default__, or decoder/.*layers.*"};
}

MaybeFinding transformer_engine_unrecorded(const FindingSubject& s) {
  if (!runs_transformer_engine(s.config().quantization)) return std::nullopt;
  return Finding{FindingId::transformer_engine_unrecorded,
                 Severity::note,
                 fmt::format("quantization={}: Transformer Engine narrows inside of its kernels. Counted is what its source "
                             "says (products of layers in float8, a second narrow copy of each weight for gradients, which "
                             "Blackwell doesn't need); no program with it is recorded",
                             name_of(s.config().quantization)),
                 "layers",
                 {},
                 ""};
}

MaybeFinding mesh_does_not_fit_torus(const FindingSubject& s) {
  const auto& infeasible = s.evaluation.infeasible;
  if (!infeasible || infeasible->constraint != ConstraintId::mesh_does_not_fit_torus) return std::nullopt;
  return Finding{FindingId::mesh_does_not_fit_torus, Severity::error, infeasible->message, describe(s.mesh()), {},
                 s.config().custom_mesh == CustomMesh::none ? "allow_split_physical_axes=True" : "no custom_mesh"};
}

MaybeFinding custom_mesh_ignored(const FindingSubject& s) {
  const auto& config = s.config();
  if (config.custom_mesh == CustomMesh::none || config.allow_split_physical_axes || s.mesh().slices() > 1)
    return std::nullopt;
  return Finding{FindingId::custom_mesh_ignored,
                 Severity::warning,
                 fmt::format("custom_mesh={} changes nothing: MaxText reads it with several slices, or where axes may "
                             "be split",
                             name_of(config.custom_mesh)),
                 describe(s.mesh()),
                 {},
                 "allow_split_physical_axes=True"};
}

MaybeFinding places_ignored(const FindingSubject& s) {
  const auto& words = s.configuration.ignored_places;
  if (words.empty()) return std::nullopt;
  return Finding{FindingId::places_ignored,
                 Severity::warning,
                 fmt::format("{}: nothing is kept for it, MaxText reads it with remat_policy=custom alone, not with {}",
                             fmt::join(words, ", "), s.config().remat_policy),
                 describe(s.mesh()),
                 {},
                 "remat_policy=custom"};
}

std::vector<Finding> ignored_axes(const FindingSubject& s) {
  std::vector<Finding> findings;
  for (const auto& axis : s.configuration.ignored_axes)
    findings.push_back(
        {FindingId::axis_ignored,
         Severity::warning,
         fmt::format("rule set '{}' has no mesh axis '{}': MaxText ignores the flag silently", s.rules().name, axis),
         s.rules().name,
         {axis},
         fmt::format("leave it out, or choose a rule set with '{}'", axis)});
  return findings;
}

namespace {

/// The assumed one with which products stay whole; empty where the compiler's file has none.
std::string whole_products_flag(const Compiler& compiler) {
  for (const AssumedFlags& recipe : compiler.assumed)
    for (const CompilerFlag& flag : recipe.flags)
      if (flag.change.switches.contains(Habit::multiplies_in_rings)) return print_flag(flag);
  return "";
}

}  // namespace

/// Only programs without it are counted, and compiled to check counts and memory.
MaybeFinding collective_matmul(const FindingSubject& s) {
  const auto& collectives = s.evaluation.collectives;
  const bool moves_weights = std::any_of(collectives.begin(), collectives.end(), [](const Collective& c) {
    return c.parameter && c.kind == CollectiveKind::all_gather;
  });
  if (!s.configuration.compiler.has(Habit::multiplies_in_rings) || !moves_weights) return std::nullopt;
  const std::string flag = whole_products_flag(s.configuration.compiler);
  return Finding{FindingId::collective_matmul,
                 Severity::warning,
                 "XLA's collective matmul is on, its default: products beside gathers become loops of permutes. "
                 "Collectives, memory and seconds here are those of a program without, which needs less memory "
                 "(compiled: Llama2-7B 93.4 GB for 94.4, two layers of it 3.25 for 4.03)",
                 "xla_flags",
                 {},
                 flag.empty() ? "" : flag + " among the flags"};
}

}  // namespace shardplan
