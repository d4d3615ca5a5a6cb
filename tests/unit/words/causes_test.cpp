// Published ids of causes: complete, unique and documented.
#include <gmock/gmock.h>

#include <formats/strict_json.hpp>
#include <planner/words/collective_words.hpp>
#include <set>
#include <shardplan/error.hpp>

namespace shardplan {
namespace {

TEST(Causes, HaveIdsOfTheirOwn) {
  std::set<std::string_view> ids;
  for (const Cause cause : all_causes()) EXPECT_TRUE(ids.insert(name_of(cause)).second) << name_of(cause);
  EXPECT_EQ(ids.size(), static_cast<std::size_t>(Cause::read_from_program) + 1);
}

TEST(Causes, AreDocumented) {
  const std::string page = read_file(TEST_DATA "/../../docs/causes.md");
  for (const Cause cause : all_causes())
    EXPECT_THAT(page, testing::HasSubstr("`" + std::string(name_of(cause)) + "`"));
}

Program one_operation() {
  Block block;
  block.name = "layers";
  block.tensors.resize(1);
  block.tensors[0].name = "hidden state";
  block.tensors[0].dims = {{Dim::embed, 8}};
  block.operations = {{OpKind::einsum, "mlp/wo", {0, 0}, 0}};
  Program program;
  program.blocks.push_back(block);
  return program;
}

Collective collective_of(Cause cause) {
  Collective c;
  c.cause = cause;
  c.block = c.operation = c.tensor = 0;
  c.axes = {0};
  c.to.dims = {{}};
  return c;
}

/// Every cause that a plan can have says where and why; no two in the same words at the same place.
TEST(Causes, HaveWords) {
  const Program program = one_operation();
  const std::vector<PartitionSpec> specs = {{{{0}}}};
  const LayoutView view{program, {specs}};
  const Mesh mesh{{{"fsdp", 4, 1}}};
  std::set<std::string> sentences;
  for (const Cause cause : all_causes()) {
    if (cause == Cause::read_from_program) continue;
    const NamedCollective named = in_words(collective_of(cause), view, mesh);
    EXPECT_TRUE(named.op.starts_with("layers/")) << name_of(cause);
    EXPECT_TRUE(sentences.insert(named.why).second) << name_of(cause) << ": " << named.why;
  }
}

TEST(Causes, OfNoPlanOrNoBlockAreInternalErrors) {
  const Program program = one_operation();
  EXPECT_THROW(place_in_words(collective_of(Cause::read_from_program), program), InternalError);
  Collective stray = collective_of(Cause::weight_gradient);
  stray.block = 1;
  EXPECT_THROW(place_in_words(stray, program), InternalError);
}

}  // namespace
}  // namespace shardplan
