// What partitioning counts for pricing: FLOPs and traffic of each operation, and which collectives move weights.
#include <gmock/gmock.h>

#include <compilers/load_compiler.hpp>
#include <cost_models/blocks/partition_block.hpp>
#include <cost_models/vector_work/vector_costs.hpp>

namespace shardplan {
namespace {

constexpr TensorDim batch{Dim::batch, 8}, sequence{Dim::sequence, 16}, embed{Dim::embed, 32}, mlp{Dim::mlp, 64};
constexpr std::int64_t hidden_bytes = 8 * 16 * 32 * 2, wide_bytes = 8 * 16 * 64 * 2;

/// An MLP without gate on a mesh of one axis "fsdp" that splits batch and the weights' embed dim.
class ToyBlock {
 public:
  explicit ToyBlock(int fsdp) {
    mesh_.axes = {{"fsdp", fsdp, 1}};
    program_.batch = batch.size;
    program_.sequence = sequence.size;
    block_.name = "layers";
    const PartitionSpec tokens{{split(), {}, {}}};
    const TensorId x = add("x", {batch, sequence, embed}, tokens);
    const TensorId mask = add("mask", {batch, sequence, embed}, tokens);
    const TensorId wi = add("wi", {embed, mlp}, {{split(), {}}});
    const TensorId hidden = add("hidden", {batch, sequence, mlp}, tokens);
    const TensorId activated = add("activated", {batch, sequence, mlp}, tokens);
    const TensorId wo = add("wo", {mlp, embed}, {{{}, split()}});
    const TensorId y = add("y", {batch, sequence, embed}, tokens);
    const TensorId out = add("out", {batch, sequence, embed}, tokens);
    const TensorId scale = add("scale", {embed}, {{{}}});
    const TensorId normed = add("normed", {batch, sequence, embed}, tokens);
    const TensorId folded = add("folded", {batch, sequence, embed}, tokens);
    for (const TensorId weight : {wi, wo, scale}) block_.tensors[weight].parameter = true;
    block_.tensors[mask].differentiable = false;
    block_.operations = {{OpKind::einsum, "wi", {x, wi}, hidden},
                         {OpKind::elementwise, "activation", {hidden}, activated},
                         {OpKind::einsum, "wo", {activated, wo}, y},
                         {OpKind::add, "residual", {x, y}, out},
                         {OpKind::normalization, "norm", {out, scale}, normed},
                         {OpKind::add, "mask", {scale}, mask},
                         {OpKind::elementwise, "fold", {activated}, folded}};
    block_.input = x;
    block_.output = normed;
    program_.blocks = {block_};
  }

  /// Operation 7: the same rows by another weight.
  void add_product_like_wi() {
    const TensorId weight = add("wi_1", {embed, mlp}, {{split(), {}}});
    const TensorId rows = add("rows", {batch, sequence, mlp}, {{split(), {}, {}}});
    block_.tensors[weight].parameter = true;
    block_.operations.push_back({OpKind::einsum, "wi_1", {block_.input, weight}, rows});
    program_.blocks = {block_};
  }

  /// Then `activated` has one reader, wo.
  void drop_fold() { program_.blocks[0].operations.pop_back(); }

  void narrow(OperationId operation, const NarrowProduct& how) { program_.blocks[0].operations[operation].narrow = how; }

  void set_differentiable(TensorId tensor, bool value) {
    program_.blocks[0].tensors[tensor].differentiable = value;
  }

  const std::string& operation(const Collective& c) const { return program_.blocks[0].operations[c.operation].name; }

  PartitionedBlock partitioned(const Compiler& compiler = load_compiler("plain")) const {
    BoundProgram bound;
    bound.program = &program_;
    bound.mesh = &mesh_;
    return partition_block(bound, {&program_.blocks[0], specs_}, TrainConfig{}, compiler);
  }

 private:
  AxisList split() const { return mesh_.axes[0].size() > 1 ? AxisList{0} : AxisList{}; }

  TensorId add(std::string name, Dims dims, PartitionSpec spec) {
    Tensor tensor;
    tensor.name = std::move(name);
    tensor.dims = std::move(dims);
    block_.tensors.push_back(std::move(tensor));
    specs_.emplace_back(std::move(spec));
    return static_cast<TensorId>(block_.tensors.size() - 1);
  }

  Mesh mesh_;
  Program program_;
  Block block_;
  std::vector<std::optional<PartitionSpec>> specs_;
};

struct Work {
  const char* name;
  WorkKind kind;
  double forward, backward;
  std::int64_t traffic;
};

constexpr double product = 2.0 * 8 * 16 * 32 * 64;
constexpr std::int64_t product_traffic = hidden_bytes + wide_bytes + 32 * 64 * 2;
const Work on_one_device[] = {
    {"wi", WorkKind::matmul, product, 2 * product, product_traffic},  //
    {"activation", WorkKind::vector, 0, 0, 0},                        //
    {"wo", WorkKind::matmul, product, 2 * product, product_traffic},  //
    {"residual", WorkKind::vector, 0, 0, 0},                          //
    {"norm", WorkKind::vector, 0, 0, 0},                              //
    {"mask", WorkKind::vector, 0, 0, 0},                              //
    {"fold", WorkKind::vector, 0, 0, 0},                              //
};

TEST(OperationWork, CountsTheFlopsAndTrafficOfKernels) {
  ToyBlock toy(1);
  const PartitionedBlock block = toy.partitioned();
  ASSERT_EQ(block.work().size(), std::size(on_one_device));
  for (std::size_t i = 0; i < block.work().size(); ++i) {
    const auto& [name, kind, forward, backward, traffic] = on_one_device[i];
    EXPECT_EQ(block.block->operations[i].name, name);
    EXPECT_EQ(block.work()[i].kind, kind) << name;
    EXPECT_DOUBLE_EQ(block.work()[i].forward.value, forward) << name;
    EXPECT_DOUBLE_EQ(block.work()[i].backward.value, backward) << name;
    EXPECT_EQ(block.work()[i].forward_traffic.value, traffic) << name;
    EXPECT_EQ(block.work()[i].backward_traffic.value, 2 * traffic) << name;
  }
}

TEST(OperationWork, ProductsHaveTheirShape) {
  const MatrixShape wi = ToyBlock(1).partitioned().work()[0].shape, of_four = ToyBlock(4).partitioned().work()[0].shape;
  EXPECT_EQ(std::tuple(wi.m, wi.n, wi.k, wi.groups), std::tuple(8.0 * 16, 64.0, 32.0, 1.0));
  EXPECT_EQ(std::tuple(of_four.m, of_four.n, of_four.k), std::tuple(2.0 * 16, 64.0, 32.0)) << "the batch is split";
}

struct Vector {
  int operation;
  double forward, backward;  ///< operands in elements, of vector work that no product runs
  double fused;              ///< and of what a product runs, forward
};

constexpr double hidden = 8 * 16 * 32, wide = 8 * 16 * 64;

/// The compiler: an operand an input and result everywhere; beside products and in norms 10 times as many.
Compiler toy_kernels() {
  Compiler compiler = load_compiler("plain");
  compiler.vector_kernels = {};
  compiler.vector_kernels.fuses_into_products = true;
  compiler.vector_kernels.of(VectorKernel::alone) = {{1, 1}, {1, 1}};
  compiler.vector_kernels.of(VectorKernel::beside_product) = {{1, 10}, {1, 10}};
  compiler.vector_kernels.of(VectorKernel::normalization) = {{1, 100}, {1, 300}};
  return compiler;
}

constexpr Vector vectors[] = {
    {1, 0, 0, 10 * 2 * wide},                           // activation: between two products
    {3, 0, 0, 10 * 3 * hidden},                         // residual: behind wo, two operands and the result
    {4, 100 * hidden, 300 * hidden, 2 * 10 * hidden},   // norm: statistics alone, scaling beside a product
    {5, 1 * hidden, 1 * hidden, 0},                     // mask: from a parameter, nothing near
    {6, wide + hidden, 2 * wide + hidden, 0},           // fold: reads the activation's result, no product's
};

TEST(OperationWork, VectorWorkIsAloneOrAPartOfTheProductNextToIt) {
  const PartitionedBlock block = ToyBlock(1).partitioned(toy_kernels());
  for (const auto& row : vectors) {
    const OperationWork& work = block.work()[row.operation];
    EXPECT_DOUBLE_EQ(work.vector_forward.operands, row.forward) << row.operation;
    EXPECT_DOUBLE_EQ(work.vector_backward.operands, row.backward) << row.operation;
    EXPECT_DOUBLE_EQ(work.fused_forward.operands, row.fused) << row.operation;
    EXPECT_EQ(work.vector_forward.traffic.value, static_cast<std::int64_t>(2 * row.forward))
        << row.operation << ": bfloat16";
  }
}

TEST(OperationWork, WithoutFusionItIsVectorWorkToo) {
  Compiler compiler = toy_kernels();
  compiler.vector_kernels.fuses_into_products = false;
  const OperationWork residual = ToyBlock(1).partitioned(compiler).work()[3];
  EXPECT_DOUBLE_EQ(residual.vector_forward.operands, 10 * 3 * hidden);
  EXPECT_DOUBLE_EQ(residual.fused_forward.operands, 0);
}

/// Both weights are cast twice and their gradients written. Saved are the input and the activation's result, which products
/// read, and the hidden rows and the sum, which elementwise work reads where they are.
TEST(OperationWork, StacksTakeAndGiveWhatLayersNeed) {
  Compiler compiler = toy_kernels();
  compiler.vector_kernels.of(VectorKernel::weight_use) = {{1, 2}, {1, 2}};
  compiler.vector_kernels.of(VectorKernel::weight_gradient) = {{}, {1, 5}};
  compiler.vector_kernels.of(VectorKernel::saved_value) = {{1, 1000}, {1, 10000}};
  const OperationWork stacks = ToyBlock(1).partitioned(compiler).stacks;
  constexpr double weights = 2 * 32 * 64 + 32;
  EXPECT_DOUBLE_EQ(stacks.vector_forward.operands, 2 * weights + 1000 * (2 * hidden + 2 * wide));
  EXPECT_DOUBLE_EQ(stacks.vector_backward.operands, (2 + 5) * weights + 10000 * (hidden + wide));
}

/// Looking for scales costs 1 operand an element, rounding 10, with random numbers 100.
Compiler narrowing_kernels() {
  Compiler compiler = toy_kernels();
  compiler.vector_kernels.of(VectorKernel::scale_search) = {{1, 1}, {1, 1}};
  compiler.vector_kernels.of(VectorKernel::narrowing) = {{1, 10}, {1, 10}};
  compiler.vector_kernels.of(VectorKernel::stochastic_narrowing) = {{}, {1, 100}};
  return compiler;
}

constexpr double wi_elements = 32 * 64;

// Both gradients narrow the result's, and nothing else: they read what the product read. The activation function's product
// looks for the scale of the gradient that it makes.
TEST(OperationWork, NarrowingIsVectorWork) {
  ToyBlock toy(1);
  NarrowProduct narrow;
  narrow.input_gradient = narrow.weight_gradient = true;
  toy.narrow(0, narrow);
  const OperationWork wi = toy.partitioned(narrowing_kernels()).work()[0];
  EXPECT_DOUBLE_EQ(wi.vector_forward.operands, 11 * (hidden + wi_elements));
  EXPECT_DOUBLE_EQ(wi.vector_forward.passes, 2 * (hidden + wi_elements));
  EXPECT_DOUBLE_EQ(wi.vector_backward.operands, 2 * 10 * wide);
}

TEST(OperationWork, NarrowingOnAFixedScaleLooksForNone) {
  ToyBlock toy(1);
  NarrowProduct narrow;
  narrow.activation_scaling = Scaling::fixed;
  toy.narrow(0, narrow);
  const OperationWork wi = toy.partitioned(narrowing_kernels()).work()[0];
  EXPECT_DOUBLE_EQ(wi.vector_forward.operands, 10 * hidden + 11 * wi_elements);
  EXPECT_DOUBLE_EQ(wi.vector_backward.operands, 0);
}

// AQT: each gradient narrows the other factor again, and the result's with random numbers.
TEST(OperationWork, GradientsOfAqtNarrowForThemselves) {
  ToyBlock toy(1);
  NarrowProduct narrow;
  narrow.input_gradient = narrow.weight_gradient = narrow.narrows_again = narrow.rounds_gradients_randomly = true;
  toy.narrow(0, narrow);
  const OperationWork wi = toy.partitioned(narrowing_kernels()).work()[0];
  EXPECT_DOUBLE_EQ(wi.vector_backward.operands, 2 * 100 * wide + 11 * (hidden + wi_elements));
}

// Nor is there a search where a product made the numbers; a compiler that fuses nothing into products looks for itself.
TEST(OperationWork, AProductLooksForTheScaleOfWhatItMakes) {
  ToyBlock toy(1);
  toy.narrow(2, NarrowProduct{});
  Compiler compiler = narrowing_kernels();
  EXPECT_DOUBLE_EQ(toy.partitioned(compiler).work()[2].vector_forward.operands, 10 * wide + 11 * wi_elements);
  compiler.vector_kernels.fuses_into_products = false;
  EXPECT_DOUBLE_EQ(toy.partitioned(compiler).work()[2].vector_forward.operands, 11 * (wide + wi_elements));
}

// What only narrow products read is computed where it is narrowed, and its inputs' gradients where they are.
TEST(OperationWork, AnActivationIsPartOfItsNarrowing) {
  const auto activation = [](bool narrow, bool read_wide, const Compiler& compiler) {
    ToyBlock toy(1);
    if (!read_wide) toy.drop_fold();
    if (narrow) toy.narrow(2, NarrowProduct{});
    const OperationWork work = toy.partitioned(compiler).work()[1];
    return work.vector_forward.operands + work.fused_forward.operands + work.vector_backward.operands +
           work.fused_backward.operands;
  };
  const Compiler kernels = narrowing_kernels();
  EXPECT_EQ(activation(true, false, kernels), 0);
  EXPECT_GT(activation(false, false, kernels), 0);
  EXPECT_EQ(activation(true, true, kernels), activation(false, true, kernels)) << "another operation reads it too";
  Compiler apart = kernels;
  apart.vector_kernels.fuses_into_products = false;
  EXPECT_EQ(activation(true, false, apart), activation(false, false, apart));
}

TEST(OperationWork, ProductsOfTheSameRowsNarrowThemOnce) {
  ToyBlock toy(1);
  toy.add_product_like_wi();
  toy.narrow(0, NarrowProduct{});
  toy.narrow(7, NarrowProduct{});
  const PartitionedBlock block = toy.partitioned(narrowing_kernels());
  EXPECT_DOUBLE_EQ(block.work()[0].vector_forward.operands, 11 * (hidden + wi_elements));
  EXPECT_DOUBLE_EQ(block.work()[7].vector_forward.operands, 11 * wi_elements);
}

TEST(OperationWork, OperandWithoutGradientSavesAProduct) {
  ToyBlock toy(1);
  toy.set_differentiable(0, false);
  const OperationWork wi = toy.partitioned().work()[0];
  EXPECT_DOUBLE_EQ(wi.backward.value, wi.forward.value);
  EXPECT_EQ(wi.backward_traffic, wi.forward_traffic);
}

TEST(OperationWork, IsSharedAmongDevices) {
  const PartitionedBlock one = ToyBlock(1).partitioned(), four = ToyBlock(4).partitioned();
  for (std::size_t i = 0; i < one.work().size(); ++i)
    EXPECT_DOUBLE_EQ(four.work()[i].forward.value * 4, one.work()[i].forward.value) << i;
}

TEST(OperationWork, WeightGathersAndGradientReductionsAreMarked) {
  std::vector<std::string> weights;
  const ToyBlock toy(4);
  for (const auto& c : toy.partitioned().collectives)
    if (c.parameter)
      weights.push_back(toy.operation(c) + " " + std::string(name_of(c.phase)) + " " + std::string(name_of(c.kind)));
  EXPECT_THAT(weights,
              testing::IsSupersetOf({"wi forward all-gather", "wo forward all-gather", "wi backward reduce-scatter",
                                     "wo backward reduce-scatter"}));
}

}  // namespace
}  // namespace shardplan
