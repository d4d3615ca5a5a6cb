#pragma once
// A train step as a program: blocks (embedding, layer stacks, head) of operations on tensors whose dims carry logical
// axis names. The program knows no mesh: rules bind its constraints to mesh axes (bound_program.hpp), a partitioner
// derives the collectives of forward, recomputed forward and backward from the same list.
#include <cstdint>
#include <map>
#include <optional>
#include <shardplan/attention/attention_window.hpp>
#include <shardplan/mesh/sharding.hpp>
#include <shardplan/train_config.hpp>
#include <string>
#include <string_view>
#include <vector>

namespace shardplan {

/// What a tensor's dim counts. An einsum contracts the dims that both operands have and its output lacks.
enum class Dim : std::uint8_t {
  batch,
  sequence,
  embed,
  q_heads,
  kv_heads,
  head_dim,
  value_dim,
  mlp,
  experts,
  capacity,
  rows,
  top_k,
  vocab,
  q_rank,
  kv_rank,
  latent,  ///< the hidden state's width between attention and experts, where it is another (qwen3_custom_moe)
  position,
  qkv,   ///< query, key, value
  mlp_parts,  ///< what a gated activation multiplies: of one weight that makes both (fused_mlp)
  taps,  ///< of a convolution along the sequence
  gate,    ///< numbers that scale something: a gate's own
  streams, ///< of the hidden state (hyper-connections)
  groups   ///< of heads that are projected together
};
std::string_view name_of(Dim dim);

struct TensorDim {
  Dim dim;
  std::int64_t size;  ///< global
  bool operator==(const TensorDim&) const = default;
};
using Dims = InlineList<TensorDim, most_dims>;

/// What is taken away from a constraint after resolution (SHARDING.md 1.6, 2.4).
enum class Peel : std::uint8_t {
  none,
  experts_from_batch,  ///< moe_dispatch_no_expert_sharding: dims resolved one by one, then expert axes leave the batch
                       ///< dim
  fsdp,                ///< shard_map in-specs of expert weights: fsdp leaves every dim
  fsdp_transpose,      ///< dense_fsdp_use_two_stage_all_gather: fsdp_transpose leaves every dim
  both_fsdp,           ///< and then fsdp too
};

struct Constraint {
  LogicalAxes axes;  ///< one for each dim; empty: unconstrained, sharding propagates
  Peel peel = Peel::none;
  bool operator==(const Constraint&) const = default;
};

using BlockId = std::int32_t;      ///< index into Program::blocks
using OperationId = std::int32_t;  ///< index into Block::operations
using TensorId = std::int32_t;     ///< index into Block::tensors
using TensorIds = InlineList<TensorId, 8>;  ///< the few that an operation reads

/// What a tensor is to those who decide by it; names are for people.
enum class TensorRole : std::uint8_t {
  plain,
  bias,                  ///< a parameter that is added
  idle,                  ///< a parameter that nothing reads at this length of sequence
  untrained,             ///< a parameter that the optimizer leaves alone: no moments, no gradient
  attention_input,       ///< what queries, keys and values are projected from
  dispatch_mask,         ///< dropping path: which token goes to which slot of which expert
  dispatched_tokens,     ///< dropping path: [experts, batch, capacity, embed]
  expert_input_weight,   ///< wi_0, wi_1
  expert_output_weight,  ///< wo
};

struct Tensor {
  std::string name;
  TensorRole role = TensorRole::plain;
  Dims dims;
  DType dtype = DType::bf16;
  Constraint constraint;
  bool parameter = false;
  bool differentiable = true;                 ///< false: token ids, masks
  std::vector<std::string> checkpoint_names;  ///< remat policies save the tensor under these names; empty: never saved
  /// An earlier block's: a parameter that it holds and updates (the head of a tied model), or a value that it keeps
  /// (keys and values of layers that lend them).
  bool shared = false;
  std::optional<DType> kept_as = {};  ///< a parameter that is no weight_dtype
  bool operator==(const Tensor&) const = default;
};

/// Of the whole tensor.
std::int64_t elements_of(const Tensor& tensor);
std::int64_t elements_of(const Dims& dims);

inline bool is_trained(const Tensor& tensor) { return tensor.parameter && tensor.role != TensorRole::untrained; }

enum class OpKind : std::uint8_t {
  einsum,           ///< inputs {lhs, rhs}
  elementwise,      ///< inputs of the output's dims (or parameters of some of them); backward needs the inputs
  add,              ///< elementwise and linear: backward needs nothing
  normalization,    ///< inputs {x, scale}: statistics over the embed dim
  constrain,        ///< the same tensor under another constraint
  attention,        ///< inputs {q, k, v}: softmax(q·kT)·v, causal; a fourth is a mask [batch, query, key]
  lookup,           ///< inputs {table, token ids}
  cross_entropy,    ///< inputs {logits}: softmax statistics over vocab
  routing,          ///< inputs {router logits}: top-k, positions, masks (dropping path: scatter indices are global)
  ragged_dispatch,  ///< inputs {tokens, routing weights}: sorted by expert, sent to the expert's device by ragged
                    ///< all-to-all
  ragged_return,    ///< inputs {rows, routing weights}: and back, one row for each of a token's experts
  ring_dispatch,    ///< inputs {tokens, router logits}: both all-gathered over the expert axes
  ring_return,      ///< inputs {rows, router logits}: weighted sum of each token's rows, reduce-scatter back
  delta_rule,       ///< inputs {q, k, v, gates}: a state of key dim × value dim a head, carried along the sequence
  key_selection,    ///< inputs {q, k, head weights}: which keys each query attends to, as a mask [batch, query, key]
  split_batch,      ///< inputs {x}: one of equal parts of each device's sequences
  merge_batch,      ///< inputs {parts}: the whole again
};

/// The part of a decoder layer that an operation belongs to.
enum class Module : std::uint8_t { none, attention, mlp, shared_experts, mixture };

/// What an operation is to a compiler that treats it in a way of its own.
enum class OperationRole : std::uint8_t {
  plain,
  qkv_projection,     ///< query, then key and value: two constrained copies of one operand
  expert_projection,  ///< wi_0, wi_1
  expert_output,      ///< wo
};

/// From what the scale of narrowed numbers is.
enum class Scaling : std::uint8_t {
  fixed,        ///< a constant
  channelwise,  ///< the largest number at hand of each channel, the contracted dims together
  delayed,      ///< the largest of the whole tensor in past steps: a history is state of the training
  tensorwise,   ///< the largest of the whole tensor at hand
};

/// How a product with a weight multiplies in fewer bits (Quantization; models/programs/narrow_products.hpp).
struct NarrowProduct {
  DType operands = DType::s8;        ///< of the product: activation and weight
  std::optional<DType> weight_operand;  ///< the weight's, where it is another
  bool activation = true, weight = true;  ///< which of the two is; unless both are, the product multiplies wide numbers
  bool input_gradient = false;       ///< the gradient of the activation is such a product too
  bool weight_gradient = false;      ///< and that of the weight
  Scaling weight_scaling = Scaling::channelwise, activation_scaling = Scaling::channelwise,
          gradient_scaling = Scaling::channelwise;
  /// Gradients narrow weight and activation again, on scales along the dims that they contract: other numbers than the
  /// product's. Else they read the product's.
  bool narrows_again = false;
  bool turns_weight = false;  ///< the activation's gradient reads a narrow copy of the weight in another layout
  bool rounds_gradients_randomly = false;  ///< to one of the two nearest numbers
  bool multiplies_narrow() const { return activation && weight; }
  bool operator==(const NarrowProduct&) const = default;
};

/// Numbers of one history of largest values, of which a product with delayed scales has three (weight, activation,
/// gradient), each with its scale (flax/linen/fp8_ops.py, Fp8DotGeneralBase).
inline constexpr std::int64_t amax_history_length = 1024;

/// How rotary positions turn a head's features: pairs from its two halves, or neighbours.
enum class Rotation : std::uint8_t { none, halves, interleaved };

struct Operation {
  OpKind kind;
  std::string name;  ///< as MaxText calls it: "self_attention/query"
  TensorIds inputs;
  TensorId output = -1;
  Module module = Module::none;
  OperationRole role = OperationRole::plain;
  AttentionWindow attention_window{};  ///< attention
  bool wide_scores = false;       ///< attention=dot_product: scores and softmax are float32 whatever `dtype` is
  bool caps_scores = false;       ///< attention=dot_product: softmax reads a hyperbolic tangent of the scores
  bool keeps_for_itself = false;  ///< attention: what its gradient reads has no name that a remat policy could save
  std::optional<NarrowProduct> narrow = {};  ///< einsum
  Rotation rotation = Rotation::none;  ///< attention: of queries and keys, on their way in
  bool looks_up_rotation = false;  ///< attention: YaRN's table has cosines and sines by (packed) position
  std::int64_t chunk = 0;             ///< delta rule: tokens of a step
  /// Lookup: of a float32 table; its rows are narrowed before they move, their gradient isn't.
  bool wide_rows = false;
  std::int64_t selected_keys = 0;     ///< key selection, and attention under its mask: keys of each query; 0: all
  std::int64_t pooled_keys = 0;       ///< attention: keys beside the sequence's own that stand for runs of tokens
  bool by_tanh = false;               ///< elementwise: gelu as jax.nn computes it
  bool scales_result = false;         ///< einsum: it divides what it makes by a number
  bool operator==(const Operation&) const = default;
};

enum class BlockKind : std::uint8_t { embedding, layer, head };

/// How often a block's weights are made available in one step, where that differs from how often its body runs.
struct WeightSchedule {
  std::int64_t gathers = 1;           ///< in the forward pass
  std::int64_t backward_gathers = 1;  ///< again, in the backward pass; 0: the gathered weights stay
  std::int64_t reductions = 1;        ///< of weight gradients, where they are scattered
  std::int64_t whole_reductions = 1;  ///< where they aren't: an all-reduce can wait for the end of a loop of sums
  bool operator==(const WeightSchedule&) const = default;
};

/// A layer that no loop holds, and of which nothing is computed again: what lies between its passes says which weights
/// are gathered again for their gradients.
enum class SingleRun : std::uint8_t {
  no,
  merged,        ///< a scan of one layer, whose recomputation is merged with the first run
  parted,        ///< such a scan, with other layers written out between its passes
  later_tokens,  ///< the layer of multi-token prediction
};

/// What a block computes, however often a step runs it.
struct BlockBody {
  std::string name;  ///< "moe_layers"
  BlockKind kind = BlockKind::layer;
  std::vector<Tensor> tensors;
  std::vector<Operation> operations;
  TensorId input = -1, output = -1;
  std::vector<TensorId> side_inputs;  ///< other blocks' values that it reads beside its input
  std::int64_t layers = 1;      ///< copies of the parameters
  bool rematerialized = false;        ///< backward recomputes what the policy doesn't save
  /// Written out between or before the scans: its backward pass lies far from its forward pass.
  bool beside_scan = false;
  SingleRun single_run = SingleRun::no;
  bool mixture = false;               ///< has experts
  std::int64_t experts_per_token = 0;
  double row_occupancy = 1;           ///< balanced rows over rows of the expert buffer (Dim::rows)
  std::int64_t layers_per_cycle = 1;  ///< copies in one iteration of the layer scan, which is rematerialized as a whole
  bool continues_cycle =
      false;                 ///< that iteration begins with the block before (gemma3: five local layers, a global one)
  bool stays_on_device = false;  ///< what a policy would move to the host is kept on the device
  bool own_loop = false;     ///< in that iteration its layers are a loop of their own, each rematerialized alone (gemma4)
  bool in_pipeline = false;  ///< runs once for each pipeline iteration; its parameters carry a stage dim
  /// Its backward pass is written by hand: what waits for it, and where, by checkpoint name, whatever the remat policy
  /// says. Weights are gathered a layer ahead by a shard_map, once in each pass (the last layer's once), and each
  /// gradient is summed a layer behind by another (batch split).
  std::optional<std::map<std::string, SavePlace>> own_backward;
  bool reads_table = false;  ///< of a head: its weight is the embedding's table, turned
  bool operator==(const BlockBody&) const = default;
};

struct Block : BlockBody {
  std::int64_t executions = 1;  ///< runs of the body in one forward pass of a step (a device's own, in a pipeline)
  WeightSchedule weights;
  bool operator==(const Block&) const = default;
};

/// The first of the projections into heads: the query's, or of all three fused.
bool is_query_projection(const Block& block, const Operation& operation);

/// How layers are spread over pipeline stages (SHARDING.md 2.6). stages 1: no pipeline.
struct PipelineShape {
  std::int64_t stages = 1, microbatches = 1, repeats = 1, layers_per_stage = 1, forwarding_delay = 1;
  std::int64_t iterations() const { return microbatches * repeats + forwarding_delay * (stages - 1); }
  bool operator==(const PipelineShape&) const = default;
  /// A stage takes several microbatches, one after the other.
  bool queues_microbatches() const { return stages > 1 && microbatches > stages; }
  /// Microbatches wait for their next round where there are more of them than stages to hold them.
  bool circular_storage() const { return repeats > 1 && microbatches > stages * forwarding_delay; }
};

/// Which passes a step makes over the blocks.
enum class StepKind : std::uint8_t {
  train,    ///< forward, recomputed forward, backward, update
  forward,  ///< forward alone: nothing is saved, no gradient, no optimizer
};

struct Program {
  StepKind step = StepKind::train;
  std::vector<Block> blocks;  ///< in execution order
  PipelineShape pipeline;
  std::int64_t batch = 0;  ///< sequences in one forward pass, all devices
  std::int64_t sequence = 0;
  std::int64_t embed = 0;
  bool operator==(const Program&) const = default;
};

}  // namespace shardplan
