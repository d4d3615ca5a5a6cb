// From one layout to another, on a tensor of 8 x 8 x 8 elements of one byte: 512 B.
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <set>

#include "../partition_toys.hpp"

namespace shardplan {
namespace {

Tensor cube() { return toy_tensor({{Dim::batch, 8}, {Dim::sequence, 8}, {Dim::embed, 8}}); }

struct ReshardRow {
  const char *mesh, *from, *partial, *to, *moves;
};

void expect_moves(std::initializer_list<ReshardRow> rows, const Compiler& compiler = {}) {
  for (const auto& row : rows) {
    const Mesh mesh = toy_mesh(row.mesh);
    const auto moves = reshard(cube(), {spec(row.from, mesh), axes(row.partial, mesh)}, spec(row.to, mesh), mesh, compiler);
    EXPECT_EQ(text(moves, mesh), row.moves)
        << row.mesh << ": " << row.from << " partial " << row.partial << " -> " << row.to;
  }
}

Compiler of_habit(Habit habit) {
  Compiler compiler;
  compiler.habits = {habit};
  return compiler;
}

TEST(Reshard, ToTheSameLayoutIsNothing) {
  expect_moves({{"fsdp=4", "fsdp|-|-", "-", "fsdp|-|-", "nothing"},  //
                {"fsdp=4", "-|-|-", "-", "-|-|-", "nothing"}});
}

TEST(Reshard, GathersTheResult) {
  expect_moves({{"fsdp=4", "fsdp|-|-", "-", "-|-|-", "all-gather fsdp 512"},
                {"fsdp=2,tensor=4", "fsdp|-|tensor", "-", "-|-|tensor", "all-gather fsdp 128"},
                {"fsdp=2,tensor=4", "fsdp|-|tensor", "-", "fsdp|-|-", "all-gather tensor 256"}});
}

TEST(Reshard, GathersSeveralAxesAsOneGroup) {
  expect_moves({{"fsdp=2,expert=4", "fsdp expert|-|-", "-", "-|-|-", "all-gather fsdp+expert 512"},
                {"fsdp=2,expert=4", "expert fsdp|-|-", "-", "-|-|-", "all-gather fsdp+expert 512"},
                {"fsdp=2,expert=4", "fsdp|-|expert", "-", "-|-|-", "all-gather fsdp+expert 512"}});
}

// [4, 4, 8] B of a device, once a dim.
TEST(Reshard, ExchangesDimByDimWhereThatIsTheHabit) {
  expect_moves({{"fsdp=2,context=2", "fsdp|context|-", "-", "-|-|fsdp context",
                 "all-to-all fsdp 128, all-to-all context 128"}},
               of_habit(Habit::exchanges_dim_by_dim));
}

// [4, 8, 2] B of a device are exchanged, then gathered to [8, 4, 8]; or gathered to [4, 8, 8] and exchanged so.
TEST(Reshard, GathersBesideAnExchangeFirstWhereThatIsTheHabit) {
  expect_moves({{"expert=2,tensor=4", "expert|-|tensor", "-", "-|expert|-", "all-to-all expert 64, all-gather tensor 256"}});
  expect_moves({{"expert=2,tensor=4", "expert|-|tensor", "-", "-|expert|-", "all-gather tensor 256, all-to-all expert 256"}},
               of_habit(Habit::gathers_before_exchanges));
}

// On [4, 8, 4] B of a device: the last dim first, to [4, 8, 8], then the first, to [8, 8, 8].
TEST(Reshard, GathersDimByDimWhereThatIsTheHabit) {
  expect_moves({{"fsdp=2,expert=2", "fsdp|-|expert", "-", "-|-|-", "all-gather expert 256, all-gather fsdp 512"},
                {"fsdp=2,expert=4", "fsdp expert|-|-", "-", "-|-|-", "all-gather fsdp+expert 512"},
                {"fsdp=2,tensor=2", "fsdp|-|tensor", "-", "-|-|tensor", "all-gather fsdp 256"},
                {"fsdp=2,context=2,expert=2", "fsdp|context|-", "expert", "-|-|expert",
                 "reduce-scatter expert 128, all-gather context 128, all-gather fsdp 256"}},
               of_habit(Habit::gathers_dim_by_dim));
}

// Shards of 512 / 4 = 128 or 512 / 8 = 64 B. [fsdp, tensor] of one dim are not [tensor, fsdp]: shards change places before
// the others are gathered; where those split the dim as finely, that is all.
TEST(Reshard, PermutesShardsForGathersInOrderWhereThatIsTheHabit) {
  expect_moves({{"fsdp=2,tensor=2", "-|fsdp|tensor", "-", "-|tensor|-",
                 "collective-permute fsdp+tensor 128, all-gather fsdp 256"},
                {"fsdp=4,tensor=2", "-|fsdp|tensor", "-", "-|tensor|-",
                 "collective-permute fsdp+tensor 64, all-gather fsdp 256"},
                {"fsdp=2,tensor=4", "-|fsdp|tensor", "-", "-|tensor|-",
                 "all-to-all tensor 64, collective-permute fsdp+tensor 64, all-gather fsdp 128"},
                {"tensor=4", "-|-|tensor", "-", "-|tensor|-", "all-to-all tensor 128"},
                {"data=2,fsdp=2", "data fsdp|-|-", "-", "data|-|fsdp", "all-to-all fsdp 128"}},
               of_habit(Habit::permutes_before_gathers));
}

// The way back of a gradient, a sum over fsdp.
TEST(Reshard, AllReducesIntoShardsThatWouldLieInAnotherOrder) {
  expect_moves({{"fsdp=2,tensor=2", "-|tensor|-", "fsdp", "-|fsdp|tensor",
                 "reduce-scatter fsdp 256, collective-permute fsdp+tensor 128"},
                {"fsdp=2,tensor=4", "-|tensor|-", "fsdp", "-|fsdp|tensor",
                 "reduce-scatter fsdp 128, all-to-all tensor 64, collective-permute fsdp+tensor 64"},
                {"fsdp=4,tensor=2", "-|tensor|-", "fsdp", "-|fsdp|tensor",
                 "all-reduce fsdp 256, collective-permute fsdp+tensor 64"}},
               of_habit(Habit::permutes_before_gathers));
}

// Onto a batch that fsdp splits already: the sum of [4, 8, 8] is made whole, and gathered to [8, 8, 8] to be sliced. A whole
// sequence takes its axis as ever.
TEST(Reshard, MakesSumsWholeForADimThatIsSplitAlready) {
  expect_moves({{"fsdp=2,expert=2", "fsdp|-|-", "expert", "fsdp expert|-|-", "all-reduce expert 256, all-gather fsdp 512"},
                {"fsdp=2,expert=2", "fsdp|-|-", "expert", "fsdp|expert|-", "reduce-scatter expert 256"},
                {"fsdp=2,expert=2", "fsdp|-|-", "expert", "fsdp|-|-", "all-reduce expert 256"}},
               of_habit(Habit::permutes_before_gathers));
}

// [8, 8, 4 heads] summed over tensor=2: a device keeps two heads, of two heads one. Heads of a weight are scattered.
TEST(Reshard, MakesSumsOfSeveralHeadsWhole) {
  const Mesh mesh = toy_mesh("tensor=2");
  const auto sum = [&](std::int64_t heads, bool parameter) {
    Tensor keys = toy_tensor({{Dim::batch, 8}, {Dim::sequence, 8}, {Dim::kv_heads, heads}});
    keys.parameter = parameter;
    return text(reshard(keys, {spec("-|-|-", mesh), axes("tensor", mesh)}, spec("-|-|tensor", mesh), mesh,
                        of_habit(Habit::permutes_before_gathers)),
                mesh);
  };
  EXPECT_EQ(sum(4, false), "all-reduce tensor 256");
  EXPECT_EQ(sum(2, false), "reduce-scatter tensor 128");
  EXPECT_EQ(sum(4, true), "reduce-scatter tensor 256");
}

TEST(Reshard, SlicesForFree) {
  expect_moves({{"fsdp=4", "-|-|-", "-", "fsdp|-|-", "nothing"},  //
                {"fsdp=2,tensor=4", "fsdp|-|-", "-", "fsdp|-|tensor", "nothing"}});
}

TEST(Reshard, SlicesBeforeItGathers) {
  expect_moves({{"fsdp=2,tensor=4", "fsdp|-|-", "-", "-|-|tensor", "all-gather fsdp 128"}});
}

TEST(Reshard, ExchangesAnAxisThatMovesToAnotherDim) {
  expect_moves({{"expert=4", "expert|-|-", "-", "-|expert|-", "all-to-all expert 128"},
                {"data=2,expert=4", "data expert|-|-", "-", "data|expert|-", "all-to-all expert 64"},
                {"data=2,expert=4", "data expert|-|-", "-", "-|data expert|-", "all-to-all data+expert 64"}});
}

TEST(Reshard, GathersWholeWhenAxesLeaveForTwoDims) {
  // Neither a single all-to-all nor two: 64 B local, everything gathered, then sliced.
  expect_moves({{"fsdp=2,context=4", "fsdp context|-|-", "-", "-|fsdp|context", "all-gather fsdp+context 512"}});
}

TEST(Reshard, ScattersAPartialSumOntoTheDimThatWantsTheAxis) {
  expect_moves({{"fsdp=4", "-|-|-", "fsdp", "fsdp|-|-", "reduce-scatter fsdp 512"},
                {"tensor=2,fsdp=4", "fsdp|-|-", "tensor", "fsdp|-|tensor", "reduce-scatter tensor 128"}});
}

TEST(Reshard, ReducesAPartialSumThatNoDimWants) {
  expect_moves({{"data=2", "-|-|-", "data", "-|-|-", "all-reduce data 512"},
                {"data=2,tensor=4", "-|-|-", "data tensor", "-|-|-", "all-reduce data+tensor 512"}});
}

TEST(Reshard, ReducesOverDataOnlyTheShardThatTheScatterLeft) {
  expect_moves({{"data=2,fsdp=4", "-|-|-", "data fsdp", "fsdp|-|-", "reduce-scatter fsdp 512, all-reduce data 128"}});
}

TEST(Reshard, DoesNothingOverAnAxisOfSizeOne) {
  expect_moves(
      {{"data=2", "fsdp|-|-", "expert", "-|-|-", "nothing"}, {"data=2", "fsdp|-|-", "-", "-|fsdp|-", "nothing"}});
}

TEST(Reshard, PadsADimThatDoesNotDivide) {
  const Mesh mesh = toy_mesh("fsdp=4");
  const Tensor odd = toy_tensor({{Dim::embed, 5}, {Dim::mlp, 3}});
  EXPECT_EQ(local_bytes(odd, spec("fsdp|-", mesh), mesh), Bytes{2 * 3});
  EXPECT_EQ(text(reshard(odd, {spec("fsdp|-", mesh), {}}, spec("-|fsdp", mesh), mesh, {}), mesh), "all-to-all fsdp 6");
}

// Any two layouts of the cube on a mesh of 2 x 2 x 2: each axis sits on one dim, is partial, or
// is not used at all.
struct Layouts {
  Mesh mesh = toy_mesh("data=2,fsdp=2,tensor=2");
  Layout from{{{{}, {}, {}}}, {}};
  PartitionSpec to{{{}, {}, {}}};
};

Layouts any_layouts() {
  Layouts layouts;
  for (const AxisId axis : axes("data fsdp tensor", layouts.mesh)) {
    const int from = *rc::gen::inRange(-2, 3), to = *rc::gen::inRange(-1, 3);
    if (from >= 0) layouts.from.spec.dims[from].push_back(axis);
    if (from == -2) layouts.from.partial.push_back(axis);
    if (to >= 0) layouts.to.dims[to].push_back(axis);
  }
  return layouts;
}

RC_GTEST_PROP(ReshardProperty, TouchesTheAxesWhosePlaceChangesAndNoOther, ()) {
  const auto [mesh, from, to] = any_layouts();
  std::multiset<AxisId> moved;
  for (const auto& move : reshard(cube(), from, to, mesh, {})) moved.insert(move.axes.begin(), move.axes.end());
  for (AxisId axis = 0; axis < mesh.axes.size(); ++axis) {
    const int before = place_of(axis, from.spec), after = place_of(axis, to);
    const bool changes = from.partial.contains(axis) || (before >= 0 && before != after);
    RC_ASSERT(moved.count(axis) == (changes ? 1U : 0U));
  }
}

// Follows the local size from move to move: each must take what the one before left, the last must leave the target's.
RC_GTEST_PROP(ReshardProperty, EndsWithTheLocalSizeOfTheTarget, ()) {
  const auto [mesh, from, to] = any_layouts();
  std::int64_t local = local_bytes(cube(), from.spec, mesh).value, sliced = 1;
  for (AxisId axis = 0; axis < mesh.axes.size(); ++axis)
    if (place_of(axis, from.spec) < 0 && !from.partial.contains(axis) && place_of(axis, to) >= 0)
      sliced *= mesh.size(axis);
  for (const auto& move : reshard(cube(), from, to, mesh, {})) {
    const std::int64_t group = mesh.product(move.axes), bytes = move.bytes.value;
    std::int64_t leaving = 1;  // axes that the target has nowhere; the others are sliced again after a whole gather
    for (const AxisId axis : move.axes)
      if (place_of(axis, to) < 0) leaving *= mesh.size(axis);
    switch (move.kind) {
      case CollectiveKind::reduce_scatter:
        RC_ASSERT(bytes == local);
        local /= group;
        break;
      case CollectiveKind::all_reduce:
        RC_ASSERT(bytes == local);
        break;
      case CollectiveKind::all_to_all:
        RC_ASSERT(bytes == local / sliced);
        break;
      case CollectiveKind::all_gather:
        RC_ASSERT(bytes == local / sliced * group);
        local *= leaving;
        break;
      case CollectiveKind::ragged_all_to_all:
      case CollectiveKind::collective_permute:
        RC_FAIL("not a reshard");
    }
  }
  RC_ASSERT(local / sliced == local_bytes(cube(), to, mesh).value);
}

}  // namespace
}  // namespace shardplan
