// Work of a compiler that calls library products (XLA:GPU): passes that such products don't fuse.
#include <gmock/gmock.h>

#include <compilers/load_compiler.hpp>
#include <cost_models/time/compute_time.hpp>

#include "../memory_toys.hpp"
#include "time_toys.hpp"

namespace shardplan {
namespace {

/// Fuses nothing into products, and has no vector work but what a test adds.
Compiler library_products() {
  Compiler compiler = toy_gpu();
  compiler.vector_kernels = {};
  return compiler;
}

const OperationWork& work_of(const PartitionedBlock& block, const std::string& name) {
  for (std::size_t i = 0; i < block.work().size(); ++i)
    if (block.block->operations[i].name.ends_with(name)) return block.work()[i];
  throw std::runtime_error("no operation " + name);
}

const OperationWork& attention_of(const PartitionedBlock& block) {
  for (std::size_t i = 0; i < block.work().size(); ++i)
    if (block.block->operations[i].kind == OpKind::attention) return block.work()[i];
  throw std::runtime_error("no attention");
}

TrainConfig dot_product() {
  TrainConfig config = toy_config(1, 1024);
  config.attention = AttentionKernel::dot_product;
  return config;
}

// 8 heads of 128, 1024 queries and keys: 8 Mi scores, 16 MiB; queries, keys, values and the result are 2 MiB each. Two
// products forward, four backward.
TEST(DotProductAttention, IsProductsThatReadAndWriteTheScores) {
  Compiler compiler = library_products();
  compiler.vector_kernels.of(VectorKernel::scores) = {{3, 10}, {2, 100}};
  const ToyMemory toy({toy_llama(), dot_product(), "default", "fsdp=1", compiler});
  const OperationWork& work = attention_of(toy.block("layers"));
  constexpr double scores = 8.0 * 1024 * 1024;
  EXPECT_EQ(work.kind, WorkKind::matmul);
  EXPECT_EQ(work.forward.value, 2 * work.shape.flops().value);
  EXPECT_EQ(work.shape.flops().value, 2 * scores * 128);
  EXPECT_EQ(work.backward.value, 2 * work.forward.value);
  EXPECT_EQ(mib(work.forward_traffic), 8 + 2 * 16);
  EXPECT_EQ(mib(work.backward_traffic), 2 * 8 + 4 * 16);
  EXPECT_EQ(work.vector_forward.operands, 10 * scores);
  EXPECT_EQ(work.vector_backward.operands, 100 * scores);
}

TEST(DotProductAttention, CopiesGroupedScores) {
  Compiler compiler = with(library_products(), Habit::transposes_grouped_scores);
  compiler.vector_kernels.of(VectorKernel::turned_scores) = {{}, {7, 2}};
  Model grouped = toy_llama();
  grouped.kv_heads = 2;
  const ToyMemory toy({grouped, dot_product(), "default", "fsdp=1", compiler});
  EXPECT_EQ(attention_of(toy.block("layers")).vector_backward.operands, 2.0 * 8 * 1024 * 1024);
}

/// gemma2's global layers: float32 whatever dtype is. A number of four bytes is two of two.
TEST(DotProductAttention, OfFloat32ScoresTakesTwice) {
  Compiler compiler = library_products();
  compiler.vector_kernels.of(VectorKernel::scores) = {{3, 10}, {2, 100}};
  Model model = toy_llama();
  const auto work_of_model = [&] {
    return attention_of(ToyMemory({model, dot_product(), "default", "fsdp=1", compiler}).block("layers"));
  };
  const OperationWork narrow = work_of_model();
  model.decoder_block.wide_global_scores = true;
  const OperationWork wide = work_of_model();
  EXPECT_EQ(wide.vector_forward.passes, 2 * narrow.vector_forward.passes);
  EXPECT_EQ(wide.vector_backward.traffic.value, 2 * narrow.vector_backward.traffic.value);
  EXPECT_EQ(mib(wide.forward_traffic), 8 + 2 * 32);
  EXPECT_EQ(wide.forward.value, narrow.forward.value);
}

TEST(DotProductAttention, IsOneKernelWhereProductsFuse) {
  Compiler compiler = library_products();
  compiler.vector_kernels.fuses_into_products = true;
  const ToyMemory toy({toy_llama(), dot_product(), "default", "fsdp=1", compiler});
  const OperationWork& work = attention_of(toy.block("layers"));
  EXPECT_EQ(work.kind, WorkKind::attention);
  EXPECT_EQ(work.backward.value, 2 * work.forward.value) << "four products against two: the probabilities are there";
}

/// What XLA:GPU makes of one kind of vector work, and nothing beside it.
Compiler with_kernel_of_gpus(VectorKernel kernel) {
  Compiler compiler = library_products();
  compiler.vector_kernels.of(kernel) = load_compiler("xla-gpu").vector_kernels.of(kernel);
  return compiler;
}

const OperationWork& loss_of(const PartitionedBlock& block) {
  for (std::size_t i = 0; i < block.work().size(); ++i)
    if (block.block->operations[i].kind == OpKind::cross_entropy) return block.work()[i];
  throw std::runtime_error("no loss");
}

constexpr double MiB = 1024.0 * 1024, hbm = 1e12;  // bytes a second of the toy machine

double seconds(const VectorWork& work) { return vector_time(work, toy_machine(), toy_compiler()).value; }

struct LossRow {
  const char* mesh;
  int sequences;
  double logits;  ///< MiB in bfloat16, of a device
};

// 1024 tokens of 4096 words: 4 Mi logits, 8 MiB. Read for their maximum and for their sum; their gradient reads and writes
// them.
TEST(LossOfLibraryProducts, ReadsTheLogitsTwiceEachWay) {
  for (const auto& row : {LossRow{"fsdp=1", 1, 8}, LossRow{"fsdp=1", 3, 24}, LossRow{"tensor=2", 1, 8}}) {
    const ToyMemory toy({toy_llama(), toy_config(row.sequences, 1024), "default", row.mesh,
                         with_kernel_of_gpus(VectorKernel::loss)});
    const OperationWork& work = loss_of(toy.block("head"));
    EXPECT_DOUBLE_EQ(seconds(work.vector_forward), 2 * row.logits * MiB / hbm) << row.mesh << row.sequences;
    EXPECT_DOUBLE_EQ(seconds(work.vector_backward), 2 * row.logits * MiB / hbm) << row.mesh << row.sequences;
  }
}

struct GradientRow {
  const char* mesh;
  DType gradients;
  double weights;  ///< Mi elements of a layer on a device
};

// A layer has 10 Mi weights, and two norms of 1024. A float32 stack is cleared, a bfloat16 gradient read (half an operand)
// and written into it, the stack read for the norm: 3.5 times 4 bytes, 146.8 us on 1 TB/s.
TEST(WeightGradientsOfLibraryProducts, AreClearedWrittenAndNormed) {
  for (const auto& row : {GradientRow{"fsdp=1", DType::f32, 10}, GradientRow{"fsdp=2", DType::f32, 5},
                          GradientRow{"fsdp=1", DType::bf16, 10}}) {
    TrainConfig config = toy_config(1, 1024);
    config.grad_dtype = row.gradients;
    const ToyMemory toy({toy_llama(), config, "default", row.mesh, with_kernel_of_gpus(VectorKernel::weight_gradient)});
    const OperationWork& stacks = toy.block("layers").stacks;
    const double bytes = 3.5 * static_cast<double>(size_of(row.gradients)), norms = 2 * 1024;
    EXPECT_EQ(seconds(stacks.vector_forward), 0);
    EXPECT_NEAR(seconds(stacks.vector_backward), row.weights * MiB * bytes / hbm, 1.01 * norms * bytes / hbm) << row.mesh;
  }
  EXPECT_NEAR(10 * MiB * 3.5 * 4 / hbm, 146.8e-6, 0.1e-6);
}

struct SortedRow {
  const char* mesh;
  int tokens;  ///< of a device
  double rows;  ///< that are written in another order, of 1024 tokens a sequence with two experts each
};

// Rows go into the order of the experts and back; behind an exchange those of the buffer do, which has room for a row
// of each token of all devices for its one expert.
TEST(SortedRows, AreWrittenOnceEachWay) {
  Compiler compiler = library_products();
  compiler.vector_kernels.of(VectorKernel::sorted_rows) = {{0, 10}, {0, 100}};
  for (const auto& row : {SortedRow{"fsdp=8", 2048, 2048 * 2}, {"expert=8", 2048, 2048 * 2 + 8 * 2048}}) {
    const ToyMemory toy({toy_mixtral(), toy_moe(toy_config(2, 1024), MoePath::ragged), "default", row.mesh, compiler});
    const PartitionedBlock& layer = toy.block("layers");
    for (const char* name : {"/dispatch", "/return"}) {
      const OperationWork& work = work_of(layer, name);
      EXPECT_EQ(work.vector_forward.operands, 10 * row.rows * 512) << name << " " << row.mesh;
      EXPECT_EQ(work.vector_backward.operands, 100 * row.rows * 512) << name << " " << row.mesh;
    }
  }
}

struct OrderRow {
  int sequences;  ///< of a device
  bool copies;
};

// Rows of a sequence's experts are written in the experts' order, and back.
TEST(ExpertOrder, IsWrittenForSeveralSequences) {
  Compiler compiler = library_products();
  compiler.vector_kernels.of(VectorKernel::expert_order) = {{1, 10}, {1, 100}};
  for (const auto& row : {OrderRow{1, false}, OrderRow{2, true}}) {
    const ToyMemory toy({toy_mixtral(), toy_moe(toy_config(row.sequences, 1024), MoePath::dropping), "default", "expert=8",
                         compiler});
    const PartitionedBlock& layer = toy.block("layers");
    for (const char* name : {"/dispatch", "/combine"}) {
      const OperationWork& work = work_of(layer, name);
      // 8 experts have 1024 · 2 / 8 rows of 512 features each for a sequence, times the capacity factor.
      const double rows = 1024 * 2 * 512 * toy.config().capacity_factor * row.sequences;
      EXPECT_EQ(work.vector_forward.operands, row.copies ? 10 * rows : 0) << name << row.sequences;
      EXPECT_EQ(work.vector_backward.operands, row.copies ? 100 * rows : 0) << name << row.sequences;
    }
  }
}

struct ExpandedRow {
  const char* mesh;
  double rows, experts;  ///< of a device
};

// 8 experts, 2 of them for each of 1024 tokens; buffers for the worst case have 8192 and 4096 rows of 512 features
// (1024 in the hidden layer). wi_0 and wi_1 share the copies of theirs; with one expert nothing is turned.
TEST(DenseRaggedDot, WritesAndTurnsRowsOfEveryExpert) {
  Compiler compiler = library_products();
  compiler.habits.add(Habit::ragged_dot_is_dense);
  compiler.vector_kernels.of(VectorKernel::expanded_rows) = {{1, 1}, {1, 2}};
  for (const auto& row : {ExpandedRow{"expert=8", 8192, 1}, ExpandedRow{"expert=4", 8192, 2}}) {
    TrainConfig config = toy_moe(toy_config(1, 1024), MoePath::ragged);
    config.megablox = false;
    const ToyMemory toy({toy_mixtral(), config, "default", row.mesh, compiler});
    const PartitionedBlock& layer = toy.block("layers");
    const double embed = row.rows * row.experts * 512, hidden = 2 * embed;
    const double turned = row.experts > 1 ? 2 : 0;
    EXPECT_EQ(work_of(layer, "/wi_0").vector_forward.operands + work_of(layer, "/wi_1").vector_forward.operands, embed);
    EXPECT_EQ(work_of(layer, "/wo").vector_forward.operands, hidden) << row.mesh;
    EXPECT_EQ(work_of(layer, "/wi_1").vector_backward.operands, (1 + turned) * hidden) << "its result's gradient";
    EXPECT_EQ(work_of(layer, "/wo").vector_backward.operands, (1 + turned) * embed + turned * hidden) << row.mesh;
  }
}

struct PipelineRow {
  const char* what;
  bool casts_stack, gathers_once;
  double runs;  ///< of a layer's cast for one of its executions
};

// 4 layers on 2 stages, 4 microbatches: 9 iterations of one of a device's 2 layers. A layer has 10 Mi weights (and two
// norms), half of them on a device.
TEST(StacksOfAPipeline, AreCastBeforeEachGather) {
  for (const auto& row : {PipelineRow{"in every iteration", false, false, 1}, PipelineRow{"once", false, true, 2.0 / 9},
                          PipelineRow{"a compiler that casts the stack", true, false, 2.0 / 9}}) {
    Compiler compiler = library_products();
    if (row.casts_stack) compiler.habits.add(Habit::moves_stacks_in_compute_dtype);
    compiler.vector_kernels.of(VectorKernel::weight_use) = {{1, 10}, {}};
    TrainConfig config = toy_config(1, 1024);
    config.num_pipeline_microbatches = 4;
    config.pipeline_fsdp_ag_once = row.gathers_once;
    const ToyMemory toy({toy_llama(), config, "default", "stage=2,fsdp=2", compiler});
    constexpr double weights = 5 * 1024 * 1024;
    EXPECT_NEAR(toy.block("layers").stacks.vector_forward.operands, 10 * weights * row.runs, 10 * 2048) << row.what;
  }
}

// Of a layer's 10 Mi weights, the gradients of its three matrices, 6 Mi, go into stacks of [embed, layers, mlp]; those of
// attention have three dims a layer. With the layers first all are written as they are.
TEST(StackWork, CopiesMatricesWhoseStackHasTheLayersSecond) {
  Compiler compiler = library_products();
  compiler.vector_kernels.of(VectorKernel::weight_gradient) = {};
  compiler.vector_kernels.of(VectorKernel::matrix_gradient) = {{}, {1, 1}};
  const auto copied = [&](std::int64_t axis) {
    TrainConfig config = toy_config(1, 1024);
    config.param_scan_axis = axis;
    const ToyMemory toy({toy_llama(), config, "default", "fsdp=1", compiler});
    return toy.block("layers").stacks.vector_backward.passes;
  };
  EXPECT_DOUBLE_EQ(copied(1) - copied(0), 6 * MiB);
}

}  // namespace
}  // namespace shardplan
