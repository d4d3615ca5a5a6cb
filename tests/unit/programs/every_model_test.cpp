// What holds for the program of every built-in model on every path.
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <models/load_model.hpp>
#include <models/parameter_count.hpp>
#include <models/programs/train_program.hpp>
#include <set>

namespace shardplan {
namespace {

void for_each_program(const std::function<void(const Model&, const Program&)>& check) {
  for (const auto& name : model_names()) {
    const Model model = load_model(name);
    if (!model.not_modelled.empty()) continue;
    for (const MoePath path : {MoePath::dropping, MoePath::ragged, MoePath::ring}) {
      TrainConfig config;
      config.per_device_batch_size = 1;
      config.max_target_length = 128;
      config.moe_path = model.has_experts() ? path : MoePath::none;
      config.capacity_factor = 1;
      SCOPED_TRACE(name + " " + std::string(name_of(config.moe_path)));
      check(model, train_program(model, config, {8, 1, 8}));
      if (!model.has_experts()) break;
    }
  }
}

TEST(EveryProgram, ComputesEachTensorOnceAndBeforeItIsRead) {
  for_each_program([](const Model&, const Program& program) {
    for (const auto& block : program.blocks) {
      std::set<TensorId> known(block.side_inputs.begin(), block.side_inputs.end());
      known.insert(block.input);
      for (std::size_t i = 0; i < block.tensors.size(); ++i)
        if (block.tensors[i].parameter) known.insert(static_cast<TensorId>(i));
      for (const auto& op : block.operations) {
        for (const TensorId input : op.inputs) EXPECT_TRUE(known.contains(input)) << block.name << "/" << op.name;
        EXPECT_TRUE(known.insert(op.output).second) << block.name << "/" << op.name << " overwrites a tensor";
      }
      EXPECT_TRUE(known.contains(block.output)) << block.name;
      EXPECT_EQ(known.size(), block.tensors.size()) << block.name << " has a tensor that nothing computes";
    }
  });
}

TEST(EveryProgram, ReadsEachTensorBesideTheOutput) {
  for_each_program([](const Model&, const Program& program) {
    for (const auto& block : program.blocks) {
      std::set<TensorId> read = {block.output};
      for (const auto& op : block.operations) read.insert(op.inputs.begin(), op.inputs.end());
      for (std::size_t i = 0; i < block.tensors.size(); ++i)
        if (block.tensors[i].role != TensorRole::untrained) {  // tables of tokens are looked up where they are
          EXPECT_NE(read.contains(static_cast<TensorId>(i)), block.tensors[i].role == TensorRole::idle)
              << block.name << ": nobody reads " << block.tensors[i].name;
        }
    }
  });
}

TEST(EveryProgram, NamesAllDimsOfAConstraintOrNone) {
  for_each_program([](const Model&, const Program& program) {
    for (const auto& block : program.blocks)
      for (const auto& tensor : block.tensors) {
        EXPECT_TRUE(tensor.constraint.axes.empty() || tensor.constraint.axes.size() == tensor.dims.size())
            << tensor.name;
        EXPECT_FALSE(tensor.parameter && tensor.constraint.axes.empty()) << tensor.name << " has no logical axes";
        for (const auto& dim : tensor.dims) EXPECT_GT(dim.size, 0) << tensor.name << " " << name_of(dim.dim);
      }
  });
}

TEST(EveryProgram, ContractsADimInEachProduct) {
  for_each_program([](const Model&, const Program& program) {
    for (const auto& block : program.blocks)
      for (const auto& op : block.operations) {
        if (op.kind != OpKind::einsum) continue;
        std::set<Dim> lhs, rhs;
        for (const auto& dim : block.tensors[op.inputs[0]].dims) lhs.insert(dim.dim);
        for (const auto& dim : block.tensors[op.inputs[1]].dims) rhs.insert(dim.dim);
        for (const auto& dim : block.tensors[op.output].dims) {
          EXPECT_TRUE(lhs.contains(dim.dim) || rhs.contains(dim.dim))
              << op.name << ": no operand has " << name_of(dim.dim);
          lhs.erase(dim.dim);
        }
        EXPECT_TRUE(std::any_of(lhs.begin(), lhs.end(), [&](Dim dim) { return rhs.contains(dim); })) << op.name;
      }
  });
}

/// As parameter_count.hpp counts: matrices, and the two latent norms of MLA.
bool is_counted(const Tensor& tensor) {
  const bool latent_norm =
      tensor.name.ends_with("_norm/scale") && (tensor.dims[0].dim == Dim::q_rank || tensor.dims[0].dim == Dim::kv_rank);
  const bool vector = tensor.dims.size() == 1 || tensor.name.ends_with("/bias") || tensor.name.ends_with("/scale") ||
                      tensor.name.ends_with("/position_bias");
  const bool matrix = !vector && !tensor.name.starts_with("position_embedder");
  return is_trained(tensor) && (matrix || latent_norm);
}

std::int64_t elements(const Tensor& tensor) {
  std::int64_t count = 1;
  for (const auto& dim : tensor.dims) count *= dim.size;
  return count;
}

// A tied table is written down twice, in the embedding and in the head.
TEST(EveryProgram, HasTheMatrixParametersOfItsModel) {
  for_each_program([](const Model& model, const Program& program) {
    std::int64_t count = 0;
    for (const auto& block : program.blocks) {
      for (const auto& tensor : block.tensors)
        if (is_counted(tensor) && !tensor.shared) count += elements(tensor) * block.layers;
    }
    EXPECT_EQ(count, matrix_parameters(model));
  });
}

}  // namespace
}  // namespace shardplan
