#include <gmock/gmock.h>

#include <tests/unit/audit/small_programs.hpp>

#include <audit/compare_traffic.hpp>

namespace shardplan {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

NamedCollective collective(CollectiveKind kind, std::int64_t bytes, std::int64_t executions, std::string op) {
  NamedCollective c;
  c.kind = kind;
  c.axes = {0};
  c.group_size = 8;
  c.bytes = {bytes};
  c.executions = executions;
  c.op = std::move(op);
  c.seconds = {static_cast<double>(bytes * executions)};
  return c;
}

std::vector<TrafficItem> program(std::vector<ProgramCollective> collectives) {
  return items_of(ProgramTraffic{"x.hlo", {{{"expert", 8}}}, std::move(collectives)});
}

TEST(CompareTraffic, AllReduceAndReduceScatterAreOneClass) {
  const auto changes =
      compare_traffic(program({{collective(CollectiveKind::all_reduce, 100, 4, "dot_general"), "f32[25]"}}),
                      items_of({collective(CollectiveKind::reduce_scatter, 100, 4, "layers/query")}));
  ASSERT_EQ(changes.size(), 1U);
  EXPECT_EQ(changes[0].found.bytes, changes[0].expected.bytes);
  EXPECT_EQ(changes[0].found_all_reduce.bytes.value, 400);
  EXPECT_EQ(changes[0].expected_all_reduce.bytes.value, 0);
  EXPECT_THAT(changes[0].extra, IsEmpty());
}

TEST(CompareTraffic, ARingOfPermutesIsTheGatherItStandsFor) {
  const auto changes = compare_traffic(program({{collective(CollectiveKind::collective_permute, 25, 4, "while"),
                                                 "f32[6]", GroupFit::permutation, RingOf::all_gather}}),
                                       items_of({collective(CollectiveKind::all_gather, 100, 1, "layers/query")}));
  ASSERT_EQ(changes.size(), 1U);
  EXPECT_EQ(changes[0].traffic, TrafficClass::gather);
  EXPECT_EQ(changes[0].found.bytes, changes[0].expected.bytes);
}

TEST(CompareTraffic, WhatHasNoCounterpartIsNamed) {
  const auto changes =
      compare_traffic(program({{collective(CollectiveKind::all_gather, 100, 4, "wi_0/sharding_constraint"), "f32[25]"},
                               {collective(CollectiveKind::all_gather, 10, 6, "convert_element_type"), "bf16[5]"}}),
                      items_of({collective(CollectiveKind::all_gather, 10, 4, "layers/query"),
                                collective(CollectiveKind::all_gather, 7, 1, "layers/gate")}));
  ASSERT_EQ(changes.size(), 1U);
  ASSERT_EQ(changes[0].extra.size(), 2U);
  EXPECT_EQ(changes[0].extra[0].tensor, "wi_0");
  EXPECT_EQ(changes[0].extra[0].traffic.bytes.value, 400);
  EXPECT_EQ(changes[0].extra[1].tensor, "convert_element_type bf16[5]");
  EXPECT_EQ(changes[0].extra[1].traffic.bytes.value, 20);  // 6 found, 4 expected
  EXPECT_DOUBLE_EQ(changes[0].extra[1].traffic.seconds.value, 20);
  ASSERT_EQ(changes[0].missing.size(), 1U);
  EXPECT_EQ(changes[0].missing[0].tensor, "gate");
}

// XLA:GPU combines gathers up to thresholds: what one of them moves is compared tensor by tensor.
TEST(CompareTraffic, ACombinedCollectiveIsItsParts) {
  ProgramCollective both{collective(CollectiveKind::all_gather, 100, 2, "(wi_0/dot:mul)"), "(f32[15], f32[10])"};
  both.parts = {{"wi_0/dot", both.collective.phase, "f32[15]", Bytes{60}},
                {"mul", both.collective.phase, "f32[10]", Bytes{40}}};
  const auto items = program({both});
  ASSERT_EQ(items.size(), 2U);
  EXPECT_EQ(items[0].expert_weight, ExpertWeight::in);
  EXPECT_EQ(items[1].tensor, "mul f32[10]");
  EXPECT_DOUBLE_EQ((items[0].collective.seconds + items[1].collective.seconds).value, both.collective.seconds.value);
  const auto changes = compare_traffic(items, items_of({collective(CollectiveKind::all_gather, 40, 2, "layers/gate")}));
  ASSERT_EQ(changes.size(), 1U);
  ASSERT_EQ(changes[0].extra.size(), 1U);
  EXPECT_EQ(changes[0].extra[0].tensor, "wi_0");
  EXPECT_EQ(changes[0].extra[0].traffic.bytes.value, 120);
  EXPECT_THAT(changes[0].missing, IsEmpty());
}

std::string gather_of_two(const std::string& name, const std::string& shapes, const std::string& op_name) {
  return "  %" + name + " = (" + shapes + ") all-gather(%p, %p), replica_groups={{0,1,2,3,4,5,6,7}}, dimensions={0}" +
         (op_name.empty() ? "" : ", metadata={op_name=\"" + op_name + "\"}") + "\n";
}

ProgramTraffic traffic_of(const std::string& instructions) {
  return count_traffic(read_hlo(lines_of(program_text(instructions))), mesh_2x4());
}

TEST(CombinedCollectives, AreToldApartByTheirParts) {
  const std::string name = "jit(f)/jvp()/(wi_0/dot:wo/dot)";
  const auto traffic = traffic_of(gather_of_two("a", "f32[16]{0}, f32[48]{0}", name) +
                                  gather_of_two("b", "f32[32]{0}, f32[32]{0}", name));
  ASSERT_EQ(traffic.collectives.size(), 2U) << "as many bytes, of other tensors";
  EXPECT_EQ(traffic.collectives[0].parts.size(), 2U);
}

TEST(CombinedCollectives, HaveThePhasesOfTheirParts) {
  const auto traffic = traffic_of(gather_of_two(
      "a", "f32[16]{0}, f32[32]{0}", "jit(f)/transpose(jvp())/(rematted_computation/wi_0/dot:mul)"));
  const auto items = items_of(traffic);
  ASSERT_EQ(items.size(), 2U);
  EXPECT_EQ(items[0].collective.phase, Phase::rematerialized_forward);
  EXPECT_EQ(items[1].collective.phase, Phase::backward);
}

}  // namespace
}  // namespace shardplan
