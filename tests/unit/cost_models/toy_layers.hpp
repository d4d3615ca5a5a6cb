#pragma once
// Small models in the shape of the real ones, run through programs, rules and partitioner, and what comes out as lines
//   "forward all-gather fsdp 4 MiB x3"
// for one layer (or one run of an edge block), equal collectives counted together.
#include <fmt/format.h>

#include <compilers/load_compiler.hpp>
#include <cost_models/blocks/partition_block.hpp>
#include <cost_models/moves/emitted_kinds.hpp>
#include <cost_models/step/batch_parts.hpp>
#include <cost_models/step/layer_stack.hpp>
#include <cost_models/step/optimizer_traffic.hpp>
#include <cost_models/step/pipeline_traffic.hpp>
#include <map>
#include <models/decoder_block.hpp>
#include <models/programs/train_program.hpp>
#include <planner/words/collective_words.hpp>
#include <rules/bind_program.hpp>
#include <rules/load_rules.hpp>
#include <rules/merge_rules.hpp>
#include <string>

#include "partition_toys.hpp"

namespace shardplan {

/// Casts layer stacks before the loop; no other habits.
inline Compiler plain_compiler() { return load_compiler("plain"); }

inline Compiler without(Compiler compiler, Habit habit) {
  compiler.habits.remove(habit);
  return compiler;
}

inline Compiler with(Compiler compiler, Habit habit) {
  compiler.habits.add(habit);
  return compiler;
}

/// One train step, everything that its collectives depend on. `rules` is a built-in set.
struct ToyRun {
  Model model;
  TrainConfig config;
  std::string rules = "default", mesh;
  Compiler compiler = plain_compiler();
  std::string between_nodes = {};  ///< "expert=2": the part of those axes that joins nodes
  ModelRules changes = {};         ///< of the rules, as logical_axis_rules on the command line
};

inline Mesh mesh_of(const ToyRun& toy, const std::vector<std::string>& axes) {
  Mesh mesh = parse_mesh(toy.mesh, axes);
  for (const AskedAxis& asked : parse_axes(toy.between_nodes)) {
    MeshAxis& axis = mesh.axes[mesh.find(asked.name).value()];
    axis.ici /= asked.size;
    axis.dcn = asked.size;
  }
  return mesh;
}

/// Weights [1024, 2048] (4 MiB in bf16) in the MLP, [1024, 8, 128] (2 MiB) in attention; 1024 tokens a sequence.
inline Model toy_llama() {
  Model model;
  model.name = "llama2";
  model.decoder_block = decoder_block(DecoderBlockKind::llama2);
  model.layers = 4;
  model.emb = 1024;
  model.q_heads = model.kv_heads = 8;
  model.head_dim = 128;
  model.mlp = 2048;
  model.vocab = 4096;
  model.mlp_activations = {"silu", "linear"};
  return model;
}

/// Expert weights [8, 512, 1024] (8 MiB), attention weights [512, 8, 64] (512 KiB); 2 of 8 experts a token.
inline Model toy_mixtral() {
  Model model = toy_llama();
  model.name = "mixtral";
  model.decoder_block = decoder_block(DecoderBlockKind::mixtral);
  model.emb = 512;
  model.head_dim = 64;
  model.mlp = model.moe_mlp = 1024;
  model.vocab = 2048;
  model.num_experts = 8;
  model.top_k = 2;
  return model;
}

/// One dense layer, then three with 16 experts of width 512 and two shared ones; 4 experts a token.
inline Model toy_deepseek() {
  Model model = toy_llama();
  model.name = "deepseek";
  model.decoder_block = decoder_block(DecoderBlockKind::deepseek);
  model.moe_mlp = 512;
  model.num_experts = 16;
  model.top_k = 4;
  model.shared_experts = 2;
  model.first_dense_layers = 1;
  model.attention_type = AttentionType::mla;
  model.kv_lora_rank = 512;
  model.qk_nope_head_dim = 128;
  model.qk_rope_head_dim = 64;
  model.v_head_dim = 128;
  return model;
}

inline TrainConfig toy_config(double sequences_a_device, std::int64_t sequence, const std::string& remat = "full") {
  TrainConfig config;
  config.per_device_batch_size = sequences_a_device;
  config.max_target_length = sequence;
  config.remat_policy = remat;
  config.saved = saved_by_policy(remat);
  return config;
}

inline TrainConfig toy_moe(TrainConfig config, MoePath path) {
  config.moe_path = path;
  config.capacity_factor = path == MoePath::dropping ? 1.0 : -1.0;
  return config;
}

struct ToyStep {
  Mesh mesh;
  std::vector<NamedCollective> collectives;    ///< of the whole step
  std::map<std::string, std::int64_t> layers;  ///< of each block
};

inline ToyStep run(const ToyRun& toy, const Decoder& decoder) {
  RuleSet rules = active_rules(load_rules(toy.rules), toy.model.rules, toy.changes);
  const int stages = parse_mesh(toy.mesh, rules.mesh_axes).size_of("stage");
  if (stages > 1) rules = pipelined(rules);
  ToyStep step{mesh_of(toy, rules.mesh_axes), {}, {}};
  ParallelShape shape{step.mesh.devices(), stages, step.mesh.product(expert_axes(rules, step.mesh))};
  for (const Habit habit :
       {Habit::gathers_for_each_tile, Habit::peels_offloading_loops, Habit::parts_single_layer_scans})
    if (toy.compiler.has(habit)) shape.habits.add(habit);
  const Program program = train_program(decoder, toy.config, shape);
  const BoundProgram bound = bind_program(program, rules, step.mesh);
  const auto blocks = partition(bound, toy.config, toy.compiler);
  LayoutView view{program, {}};
  for (const auto& block : blocks) view.specs.emplace_back(block.specs());
  const auto append = [&](const std::vector<Collective>& some) {
    for (auto& named : in_words(as_emitted(some, program, step.mesh, toy.compiler), view, step.mesh))
      step.collectives.push_back(std::move(named));
  };
  for (const auto& block : blocks) {
    step.layers[block.block->name] = block.block->layers;
    append(block.collectives);
  }
  for (const auto& rest :
       {pipeline_traffic(bound, blocks, toy.config), tile_traffic(bound, blocks, toy.config),
        layer_stack_traffic(bound, blocks, toy.config, toy.compiler),
        zero1_traffic(bound, blocks, toy.config, toy.compiler), muon_traffic(bound, blocks, toy.config, toy.compiler)})
    append(rest);
  return step;
}

inline ToyStep run(const ToyRun& toy) { return run(toy, decoder_of(toy.model)); }

inline std::string binary_size(Bytes bytes) {
  constexpr std::int64_t kib = 1024, mib = kib * 1024;
  if (bytes.value % mib == 0) return fmt::format("{} MiB", bytes.value / mib);
  if (bytes.value % kib == 0) return fmt::format("{} KiB", bytes.value / kib);
  return fmt::format("{} B", bytes.value);
}

/// All-reduce and reduce-scatter are one word, "reduce": which of them the compiler emits is a habit of the machine.
inline std::string word_for(CollectiveKind kind) {
  const bool reduces = kind == CollectiveKind::all_reduce || kind == CollectiveKind::reduce_scatter;
  return reduces ? "reduce" : std::string(name_of(kind));
}

/// Bytes a step of the collectives of one kind over exactly these axes whose operation contains `part`.
inline std::int64_t mebibytes(const ToyStep& step, CollectiveKind kind, const std::string& axes,
                              const std::string& part) {
  std::int64_t bytes = 0;
  for (const auto& c : step.collectives)
    if (c.kind == kind && names(c.axes, step.mesh, "+") == axes && c.op.find(part) != std::string::npos)
      bytes += c.bytes.value * c.executions;
  return bytes / (1024 * 1024);
}

/// The collectives of `block` whose operation contains `part`, at least `least` bytes each, a layer.
inline std::vector<std::string> lines(const ToyStep& step, const std::string& block, const std::string& part = "",
                                      Bytes least = {}) {
  std::map<std::string, std::int64_t> times;
  for (const auto& c : step.collectives)
    if (c.op.starts_with(block + "/") && c.op.find(part) != std::string::npos && c.bytes >= least)
      times[fmt::format("{} {} {} {}", name_of(c.phase), word_for(c.kind), names(c.axes, step.mesh, "+"),
                        binary_size(c.bytes))] += c.executions;
  const std::int64_t layers = step.layers.at(block);
  std::vector<std::string> all;
  for (const auto& [what, executions] : times)
    all.push_back(executions % layers == 0 ? fmt::format("{} x{}", what, executions / layers)
                                           : fmt::format("{} x{}/{}", what, executions, layers));
  return all;
}

/// Bytes of one execution × executions, over the step.
inline std::int64_t traffic(const ToyStep& step) {
  std::int64_t total = 0;
  for (const auto& c : step.collectives) total += c.bytes.value * c.executions;
  return total;
}

}  // namespace shardplan
