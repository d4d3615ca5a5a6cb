// A program's constraints on a mesh: the resolved specs, what is peeled off them, and which rules hold where.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <rules/bind_program.hpp>
#include <rules/load_rules.hpp>
#include <rules/merge_rules.hpp>
#include <rules/resolve.hpp>
#include <shardplan/error.hpp>

namespace shardplan {
namespace {

Tensor tensor(Dim first, Dim second, LogicalAxes axes, Peel peel = Peel::none) {
  Tensor t;
  t.name = "toy";
  t.dims = {{first, 8}, {second, 8}};
  t.constraint = {std::move(axes), peel};
  return t;
}

Program program_of(Tensor t, BlockKind kind = BlockKind::layer) {
  Program program;
  program.blocks.resize(1);
  program.blocks[0].kind = kind;
  program.blocks[0].tensors = {std::move(t)};
  return program;
}

struct Bound {
  RuleSet rules;
  Mesh mesh;
};

Bound on(const char* rules, const char* sizes) {
  RuleSet set = load_rules(rules);
  if (parse_mesh(sizes, set.mesh_axes).size_of("stage") > 1) set = pipelined(set);
  return {set, parse_mesh(sizes, set.mesh_axes)};
}

std::string spec_of(const Program& program, const Bound& where) {
  const BoundProgram bound = bind_program(program, where.rules, where.mesh);
  const auto& spec = bound.blocks.at(0).specs.at(0);
  return spec ? describe(*spec, where.mesh) : "unconstrained";
}

std::string axes_in_words(const AxisList& axes, const Mesh& mesh) {
  std::string text;
  for (const AxisId axis : axes) text += (text.empty() ? "" : " ") + mesh.axes[axis].name;
  return text;
}

struct Row {
  const char *what, *rules, *mesh;
  Tensor tensor;
  const char* spec;
};

// A binder stands for all meshes that split the same axes: sizes change nothing, an axis that is no longer split does.
TEST(BindProgram, DependsOnWhichAxesAreSplitAlone) {
  const Program program = program_of(tensor(Dim::batch, Dim::embed, {"activation_batch", "activation_embed"}));
  const Bound two = on("default", "fsdp=2,tensor=2"), eight = on("default", "fsdp=8,tensor=4");
  const Bound one = on("default", "fsdp=8");
  EXPECT_EQ(split_axes(two.mesh), split_axes(eight.mesh));
  EXPECT_NE(split_axes(two.mesh), split_axes(one.mesh));
  const BoundProgram bound = Binder(two.rules, two.mesh).bind(program, eight.mesh);
  EXPECT_EQ(bound.mesh, &eight.mesh);
  EXPECT_EQ(bound.blocks[0].specs, bind_program(program, eight.rules, eight.mesh).blocks[0].specs);
  EXPECT_NE(bound.blocks[0].specs, bind_program(program, one.rules, one.mesh).blocks[0].specs);
}

TEST(BindProgram, ResolvesEachConstraint) {
  const LogicalAxes dispatch = {"activation_exp", "activation_batch_moe"};
  const Tensor as_ruled = tensor(Dim::experts, Dim::batch, dispatch);
  const Tensor peeled = tensor(Dim::experts, Dim::batch, dispatch, Peel::experts_from_batch);
  const Tensor mask = tensor(Dim::batch, Dim::experts, {"activation_batch_moe", ""});
  const Tensor weight = tensor(Dim::experts, Dim::embed, {"exp", "embed_moe"});
  const Tensor kernel_input = tensor(Dim::experts, Dim::embed, {"exp", "embed_moe"}, Peel::fsdp);
  const Row rows[] = {
      {"no constraint", "default", "expert=8", tensor(Dim::batch, Dim::embed, {}), "unconstrained"},
      {"hidden state", "default", "fsdp=2,expert=4",
       tensor(Dim::batch, Dim::embed, {"activation_batch", "activation_embed"}), "P(('fsdp','expert'), None)"},
      {"#4179: batch takes the expert axis", "default", "expert=8", as_ruled, "P(None, 'expert')"},
      {"#4179: peeled, it goes back to experts", "default", "expert=8", peeled, "P('expert', None)"},
      {"#4179: the mask keeps it on batch", "default", "expert=8", mask, "P('expert', None)"},
      {"peeled beside fsdp, batch keeps fsdp", "default", "fsdp=2,expert=4", peeled, "P('expert', 'fsdp')"},
      {"no expert axis: as ruled", "default", "fsdp=8", as_ruled, "P(None, 'fsdp')"},
      {"no expert axis: peeled likewise", "default", "fsdp=8", peeled, "P(None, 'fsdp')"},
      {"ep-as-cp needs no peel", "ep-as-cp", "expert=8", as_ruled, "P('expert', None)"},
      {"expert weight", "default", "fsdp=2,expert=4", weight, "P('expert', 'fsdp')"},
      {"as shard_map sees it", "default", "fsdp=2,expert=4", kernel_input, "P('expert', None)"},
      {"experts over expert and fsdp", "shard-exp-on-fsdp", "fsdp=4,expert=2", weight, "P(('expert','fsdp'), None)"},
      {"as shard_map sees them", "shard-exp-on-fsdp", "fsdp=4,expert=2", kernel_input, "P('expert', None)"},
  };
  for (const auto& row : rows)
    EXPECT_EQ(spec_of(program_of(row.tensor), on(row.rules, row.mesh)), row.spec) << row.what;
}

TEST(BindProgram, RefusesAProgramThatNamesTooFewDims) {
  EXPECT_THROW(spec_of(program_of(tensor(Dim::batch, Dim::embed, {"activation_batch"})), on("default", "fsdp=8")),
               InternalError);
  EXPECT_THROW(spec_of(program_of(tensor(Dim::experts, Dim::embed, {"exp", "embed_moe"}, Peel::experts_from_batch)),
                       on("default", "fsdp=8")),
               InternalError);
}

struct AxesRow {
  const char *rules, *mesh, *axes;
};

TEST(ExpertAxes, AreThoseOfRuleExpWithoutFsdp) {
  for (const auto& [rules, mesh, axes] : {AxesRow{"default", "fsdp=2,expert=4", "expert"},
                                          {"default", "fsdp=8", ""},
                                          {"cp-as-ep", "fsdp=2,context=2,expert=2", "context expert"},
                                          {"cp-as-ep", "context=8", "context"},
                                          {"shard-exp-on-fsdp", "fsdp=4,expert=2", "expert"},
                                          {"shard-exp-on-fsdp", "fsdp=8", ""},
                                          {"pure-fsdp", "fsdp=8", ""}}) {
    const Bound where = on(rules, mesh);
    EXPECT_EQ(axes_in_words(expert_axes(where.rules, where.mesh), where.mesh), axes) << rules << " " << mesh;
    const Program program = program_of(tensor(Dim::batch, Dim::embed, {}));
    EXPECT_EQ(bind_program(program, where.rules, where.mesh).expert_axes, expert_axes(where.rules, where.mesh));
  }
}

// Inside a pipeline the batch is a microbatch, outside it stages split the batch like data. Embedding and head name the
// stage axis in a rule of their own.
TEST(BindProgram, LetsStagesActAsDataOutsideThePipeline) {
  const Bound where = on("default", "stage=2,fsdp=4");
  const auto hidden = tensor(Dim::batch, Dim::embed, {"activation_batch", "activation_embed"});
  Program inside = program_of(hidden);
  inside.pipeline.stages = 2;
  inside.blocks[0].in_pipeline = true;
  EXPECT_EQ(spec_of(inside, where), "P('fsdp', None)");
  Program outside = inside;
  outside.blocks[0].in_pipeline = false;
  EXPECT_EQ(spec_of(outside, where), "P(('stage','fsdp'), None)");
  Program edge = program_of(tensor(Dim::batch, Dim::embed, {"activation_embed_and_logits_batch", "activation_embed"}),
                            BlockKind::head);
  edge.pipeline.stages = 2;
  EXPECT_EQ(spec_of(edge, where), "P(('stage','fsdp'), None)");
  EXPECT_EQ(axes_in_words(bind_program(edge, where.rules, where.mesh).stage_axes, where.mesh), "stage");
}

}  // namespace
}  // namespace shardplan
