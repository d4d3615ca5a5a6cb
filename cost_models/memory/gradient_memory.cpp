#include <algorithm>
#include <cost_models/memory/gradient_memory.hpp>
#include <cost_models/memory/stacked_weights.hpp>
#include <cost_models/memory/state/static_memory.hpp>
#include <cost_models/memory/working_set.hpp>
#include <cost_models/layouts/optimizer_layout.hpp>
#include <cost_models/layouts/tiles.hpp>
#include <cost_models/partition/block_state.hpp>
#include <cost_models/partition/logits.hpp>
#include <cost_models/moves/emitted_kinds.hpp>

namespace shardplan {
namespace {

/// Axes that split the tokens of a block: its weights' gradients are summed over them.
AxisList token_axes(const PartitionedBlock& block) {
  const Tensor& input = block.block->tensors[block.block->input];
  AxisList axes;
  for (std::size_t i = 0; i < input.dims.size(); ++i)
    if (input.dims[i].dim == Dim::batch || input.dims[i].dim == Dim::sequence)
      axes.append(block.specs()[block.block->input].dims[i]);
  return axes;
}

template <class BytesOf>
Bytes sum_over_weights(const PartitionedBlock& block, BytesOf bytes_of) {
  Bytes total;
  for (std::size_t i = 0; i < block.specs().size(); ++i)
    if (block.block->tensors[i].parameter) total += bytes_of(block.block->tensors[i], block.specs()[i]);
  return total;
}

Bytes gradient_bytes(const Tensor& weight, PartitionSpec spec, const AxisList& tokens, const Mesh& mesh,
                     const Compiler& compiler) {
  const AxisList scattered = summed_shards(spec, tokens);
  if (is_all_reduced(weight, spec, scattered, mesh, compiler))  // sliced when the optimizer reads it
    spec = without_axes(spec, scattered);
  return local_bytes(weight, spec, mesh);
}

/// Whether a scheduler that minds memory has nothing to gain from making the head's weight gradient early: it is larger than
/// what waits for it.
bool is_larger_than_its_operands(const PartitionedBlock& head, const BoundProgram& program, const TrainConfig& config,
                                 const Compiler& compiler) {
  if (!compiler.has(Habit::defers_larger_head_gradient)) return false;
  return late_head_leftover(head, program, config, compiler) < unsummed_head_gradient(head, program);
}

bool has_capped_logits(const PartitionedBlock& head) {
  const auto& operations = head.block->operations;
  return std::any_of(operations.begin(), operations.end(),
                     [&](const Operation& op) { return is_part_of_loss(*head.block, head.flow(), op); });
}

/// A tied head's weight gradient is added to the table's, which the layers' backward pass leads to, in the orders that go
/// back from the results (plan_qwen34b_tpuv6e_256, plan_qwen2515b_tpuv6e_8, plan_gemma327b_tpuv5p_32); not behind capped
/// logits (plan_gemma227b_tpuv6e_32).
bool joins_the_tables(const PartitionedBlock& head, const Compiler& compiler) {
  return compiler.has(Habit::takes_list_order) && is_tied(head) &&
         (!has_capped_logits(head) || token_axes(head).empty());
}

Bytes waiting_logits(const PartitionedBlock& head, const BoundProgram& program, const TrainConfig& config,
                     const Compiler& compiler) {
  if (config.num_vocab_tiling > 1) return {};
  return logits_for_loss_value(*head.block, head.flow(), head.specs(), *program.mesh, compiler);
}

bool reads_wide_rows(const Operation& op, TensorId table) { return op.wide_rows && op.inputs.front() == table; }

/// As the public one, which has no flow to ask for the table's readers.
bool has_wide_rows(const PartitionedBlock& block, TensorId table) {
  const auto readers = block.flow().readers(table);
  return std::any_of(readers.begin(), readers.end(),
                     [&](OperationId reader) { return reads_wide_rows(block.block->operations[reader], table); });
}

/// Rows in float32 are added up in float32, behind the layers' backward pass, the columns along the lanes (recorded:
/// dscustom_v5p8_fsdp8, 64 columns in 128).
Bytes wide_table_gradients(const PartitionedBlock& block, const BoundProgram& program, const TrainConfig& config,
                           const Compiler& compiler) {
  Bytes total;
  for (std::size_t i = 0; i < block.specs().size(); ++i) {
    if (!has_wide_rows(block, static_cast<TensorId>(i))) continue;
    const Tensor& table = block.block->tensors[i];
    const PartitionSpec spec = gradient_spec(table, block.specs()[i], *block.block, program, config);
    const Mesh& mesh = *program.mesh;
    const std::int64_t elements =
        compiler.has(Habit::pads_to_tiles) ? row_elements(table, spec, mesh) : local_elements(table.dims, spec, mesh);
    total += Bytes{elements * size_of(DType::f32)};
  }
  return total;
}

/// pipeline_fsdp_ag_per_repeat: the gradients of the gathered weights, all repeats', before they are scattered.
Bytes window_gradients(const PartitionedBlock& block, const BoundProgram& program, const TrainConfig& config,
                       const Compiler& compiler) {
  if (!config.pipeline_fsdp_ag_per_repeat || !compiler.has(Habit::collects_repeat_gradients)) return {};
  return Bytes{gathered_elements(block, program) * size_of(config.dtype)};
}

/// What a loop adds up is as wide as its reader wants it: grad_dtype's cast follows at once, but where microbatches are
/// added first.
DType stacked_gradient_dtype(const TrainConfig& config, const Compiler& compiler) {
  const DType added = accumulation_dtype(config);
  const bool cast = config.gradient_accumulation_steps == 1 && size_of(config.grad_dtype) < size_of(added);
  return cast && compiler.has(Habit::narrows_cast_gradients) ? config.grad_dtype : added;
}

}  // namespace

bool has_wide_rows(const Block& block, TensorId table) {
  return std::any_of(block.operations.begin(), block.operations.end(),
                     [&](const Operation& op) { return reads_wide_rows(op, table); });
}

bool is_tied(const PartitionedBlock& head) {
  const auto& tensors = head.block->tensors;
  return std::any_of(tensors.begin(), tensors.end(), [](const Tensor& t) { return t.parameter && t.shared; });
}

namespace {

/// Of experts' gradients that are added up over passes: as their kernel writes them, features along the lanes.
bool lies_as_written(const Tensor& weight, const TrainConfig& config, const Compiler& compiler) {
  return config.gradient_accumulation_steps > 1 && config.moe_path != MoePath::dropping &&
         compiler.has(Habit::pads_to_tiles) && index_of(weight.dims, Dim::experts) >= 0;
}

std::int64_t gradient_elements(const PartitionedBlock& block, std::size_t i, const PartitionSpec& spec,
                               const BoundProgram& program, const TrainConfig& config, const Compiler& compiler) {
  const Tensor& weight = block.block->tensors[i];
  if (lies_as_written(weight, config, compiler)) return row_elements(weight, spec, *program.mesh);
  if (spec == block.specs()[i]) return block.stored()[i];
  return stored_elements(weight, spec, *program.mesh, compiler,
                         layers_in_an_array(*block.block, program.program->pipeline, config));
}

}  // namespace

Bytes gradients_of_passes(const PartitionedBlock& block, const BoundProgram& program, const TrainConfig& config,
                          const Compiler& compiler) {
  if (config.gradient_accumulation_steps == 1) return {};
  return sum_over_parameters(block, program, [&](std::size_t i, std::int64_t) {
    return Bytes{gradient_elements(block, i, block.specs()[i], program, config, compiler) *
                 size_of(accumulation_dtype(config))};
  });
}

Bytes stack_gradients(const PartitionedBlock& block, const BoundProgram& program, const TrainConfig& config,
                      const Compiler& compiler) {
  const bool stacked = config.scan_layers || block.block->in_pipeline;
  const Block& b = *block.block;
  const bool collected_narrow = b.own_backward.has_value();  // zeros like the weights as they were cast
  if (b.in_pipeline)
    return Bytes{resident_elements(block, program, config) * size_of(accumulation_dtype(config))} +
           window_gradients(block, program, config, compiler);
  const DType dtype = stacked && !collected_narrow ? stacked_gradient_dtype(config, compiler) : config.dtype;
  Bytes total;
  for (std::size_t i = 0; i < block.specs().size(); ++i) {
    if (!is_trained(b.tensors[i]) || has_wide_rows(block, static_cast<TensorId>(i))) continue;
    const PartitionSpec spec = gradient_spec(b.tensors[i], block.specs()[i], b, program, config);
    total += Bytes{gradient_elements(block, i, spec, program, config, compiler) * size_of(dtype)};
  }
  return total * layers_on_device(b, program.program->pipeline);
}

bool is_head_gradient_last_in_list(const PartitionedBlock& head, const BoundProgram& program, const TrainConfig& config,
                                   const Compiler& compiler) {
  return compiler.has(Habit::defers_head_gradient) || is_larger_than_its_operands(head, program, config, compiler);
}

bool is_head_gradient_deferred(const PartitionedBlock& head, const BoundProgram& program, const TrainConfig& config,
                               const Compiler& compiler) {
  return is_head_gradient_last_in_list(head, program, config, compiler) || joins_the_tables(head, compiler);
}

Bytes unsummed_head_gradient(const PartitionedBlock& head, const BoundProgram& program) {
  const AxisList tokens = token_axes(head);
  return sum_over_weights(head, [&](const Tensor& weight, const PartitionSpec& spec) {
    return local_bytes(weight, without_axes(spec, tokens), *program.mesh);
  });
}

Bytes summed_gradients(const PartitionedBlock& block, const BoundProgram& program, const Compiler& compiler) {
  const AxisList tokens = token_axes(block);
  return sum_over_weights(block, [&](const Tensor& weight, const PartitionSpec& spec) {
    return gradient_bytes(weight, spec, tokens, *program.mesh, compiler);
  });
}

Bytes early_head_leftover(const PartitionedBlock& head, const BoundProgram& program, const TrainConfig& config,
                          const Compiler& compiler) {
  return summed_gradients(head, program, compiler) + waiting_logits(head, program, config, compiler);
}

namespace {

/// Features that were gathered for the logits' product stay so (recorded on 7x; v6e: qwen34bx5_v6e8_tp8_minctx; v5p:
/// mistral7bx4_v5p8_fsdp4tp2_minoff).
PartitionSpec as_multiplied(const PartitionedBlock& head, TensorId id, const Compiler& compiler) {
  PartitionSpec spec = head.specs()[id];
  if (!compiler.has(Habit::runs_split_layers_as_read) && !compiler.has(Habit::runs_weight_gradients_beside_collectives))
    return spec;
  for (std::size_t dim = 0; dim < spec.dims.size(); ++dim)
    if (head.block->tensors[id].dims[dim].dim == Dim::embed) spec.dims[dim].clear();
  return spec;
}

}  // namespace

Bytes late_head_leftover(const PartitionedBlock& head, const BoundProgram& program, const TrainConfig& config,
                         const Compiler& compiler) {
  if (config.num_vocab_tiling > 1) return early_head_leftover(head, program, config, compiler);
  Bytes deferred;
  for (const auto& op : head.block->operations) {
    if (op.kind != OpKind::einsum) continue;
    for (const TensorId id : {op.inputs.front(), op.output})
      deferred += local_bytes(head.block->tensors[id], as_multiplied(head, id, compiler), *program.mesh);
  }
  const bool beside = copies_waiting_logits(*head.block, head.flow(), head.specs(), *program.mesh, compiler);
  return beside ? deferred + waiting_logits(head, program, config, compiler) : deferred;
}

Bytes waiting_gradients(const PartitionedBlock& block, const BoundProgram& program, const TrainConfig& config,
                        const Compiler& compiler) {
  if (block.block->kind == BlockKind::layer)
    return stack_gradients(block, program, config, compiler) + wide_table_gradients(block, program, config, compiler);
  return sum_over_weights(block, [&](const Tensor& weight, const PartitionSpec& spec) {
    return local_bytes(weight, gradient_spec(weight, spec, *block.block, program, config), *program.mesh);
  });
}

Bytes merged_values(const PartitionedBlock& block, const Mesh& mesh) {
  const Block& b = *block.block;
  Bytes normed;
  for (std::size_t i = 0; i < b.operations.size(); ++i) {
    const Operation& op = b.operations[i];
    const auto readers = block.flow().readers(op.output);
    const bool multiplied = std::any_of(readers.begin(), readers.end(), [&](OperationId reader) {
      return b.operations[reader].kind == OpKind::einsum;
    });
    if (op.kind == OpKind::normalization && block.liveness.recomputed[i] && multiplied)
      normed += local_bytes(b.tensors[op.output], block.specs()[op.output], mesh);
  }
  return waiting_values(block) - normed;
}

Bytes weight_gradient_operands(const PartitionedBlock& block, const Mesh& mesh, const Compiler& compiler, Module of) {
  const Block& b = *block.block;
  std::vector<bool> counted(b.tensors.size(), false);
  Bytes all;
  for (const Operation& op : b.operations) {
    if (op.kind != OpKind::einsum || !b.tensors[block.flow().origin(op.inputs.back())].parameter) continue;
    if (of != Module::none && op.module != of) continue;
    const TensorId input = block.flow().origin(op.inputs.front());
    for (const TensorId id : {input, op.output})
      if (id == op.output || !counted[id]) all += stored_bytes(b.tensors[id], block.specs()[id], mesh, compiler);
    counted[input] = true;
  }
  return all;
}

Bytes late_gradient_operands(const PartitionedBlock& block, const Mesh& mesh, const Compiler& compiler) {
  const Bytes operands = weight_gradient_operands(block, mesh, compiler);
  if (!compiler.has(Habit::fuses_hidden_rows)) return operands;
  const Block& b = *block.block;
  Bytes projected, hidden;
  for (const Operation& op : b.operations) {
    if (op.module != Module::mlp || op.kind != OpKind::einsum) continue;
    const TensorId input = block.flow().origin(op.inputs.front());
    const auto bytes = [&](TensorId id) { return stored_bytes(b.tensors[id], block.specs()[id], mesh, compiler); };
    const bool makes_rows = b.tensors[op.output].dims.back().dim == Dim::mlp;
    (makes_rows ? projected : hidden) += bytes(makes_rows ? op.output : input);
  }
  return operands + projected - hidden;
}

namespace {

bool keeps_feed_forward(const PartitionedBlock& block) {
  const auto& operations = block.block->operations;
  for (std::size_t i = 0; i < operations.size(); ++i) {
    const bool is_product = operations[i].module == Module::mlp && operations[i].kind == OpKind::einsum;
    if (is_product && block.liveness.recomputed[i]) return false;
  }
  return true;
}

Bytes unsummed_weight_gradients(const PartitionedBlock& block) {
  Bytes all;
  for (const auto& life : block.lifetimes)
    if (life.unsummed_weight_gradient) all += life.bytes;
  return all;
}

/// One for each norm's scale.
Bytes rows_for_scales(const PartitionedBlock& block, const Mesh& mesh) {
  const Block& b = *block.block;
  Bytes all;
  for (const auto& op : b.operations)
    if (op.kind == OpKind::normalization && b.tensors[op.output].dims == b.tensors[b.output].dims)
      all += local_bytes(b.tensors[op.output], block.specs()[op.output], mesh);
  return all;
}

}  // namespace

Bytes gradients_behind_scan(const PartitionedBlock& block, std::int64_t cycles, const BoundProgram& program,
                            const Compiler& compiler) {
  const std::int64_t left = layers_behind_scan(*block.block, cycles);
  if (left == 0) return {};
  Bytes one = unsummed_weight_gradients(block) + rows_for_scales(block, *program.mesh);
  if (block.weight_gradients_last && keeps_feed_forward(block))
    one += weight_gradient_operands(block, *program.mesh, compiler, Module::mlp);
  return one * left;
}

Bytes whole_gradients_behind_scan(const PartitionedBlock& block, std::int64_t cycles, const BoundProgram& program,
                                  const Compiler& compiler) {
  const std::int64_t left = layers_behind_scan(*block.block, cycles);
  if (left == 0) return {};
  const AxisList tokens = token_axes(block);
  return sum_over_weights(block, [&](const Tensor& weight, const PartitionSpec& spec) {
    const AxisList scattered = summed_shards(spec, tokens);
    if (!is_all_reduced(weight, spec, scattered, *program.mesh, compiler)) return Bytes{0};
    return local_bytes(weight, without_axes(spec, scattered), *program.mesh);
  }) * left;
}

}  // namespace shardplan
