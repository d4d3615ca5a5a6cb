#include <gmock/gmock.h>

#include <planner/search/space/enumerate_meshes.hpp>
#include <set>

#include "requests.hpp"

namespace shardplan {
namespace {

struct Case {
  const char* what;
  std::string model, machine, rules, mesh;
  int chips, slices;
};

SearchSpace space_of(const Case& c) {
  PlanRequest request = request_for(c.model, c.machine, c.chips);
  request.rule_sets = rule_sets({c.rules});
  request.mesh = parse_axis_sizes(c.mesh);
  request.slices = c.slices;
  return space_of(request);
}

std::set<std::string> names_of(const std::vector<Mesh>& meshes, const SearchSpace& space) {
  std::set<std::string> names;
  for (const Mesh& mesh : meshes) {
    std::string name;
    for (const auto& axis : mesh.axes)
      if (axis.size() > 1)
        name += (name.empty() ? "" : " ") + axis.name + "=" + (axis.dcn > 1 ? std::to_string(axis.dcn) + "x" : "") +
                std::to_string(axis.ici);
    EXPECT_TRUE(names.insert(name).second) << "twice: " << name;
    EXPECT_EQ(mesh.devices(), space.base.slice.devices * space.base.num_slices) << name;
    EXPECT_EQ(mesh.slices(), space.base.num_slices) << name;
  }
  return names;
}

std::set<std::string> meshes_of(const Case& c) {
  const SearchSpace space = space_of(c);
  return names_of(enumerate_meshes(space, space.rule_sets.front()), space);
}

TEST(EnumerateMeshes, PipelinesInFull) {
  // 32 layers; only data, fsdp, expert and tensor beside stages.
  const std::pair<Case, std::set<std::string>> rows[] = {
      {{"stage before data", "llama2-7b", "toy-switch", "default", "", 4, 1},
       {"stage=4", "stage=2 data=2", "stage=2 fsdp=2", "stage=2 tensor=2"}},
      {{"no such axis of these rules", "mixtral-8x7b", "toy-switch", "ep-as-cp", "", 4, 1},
       {"stage=4", "stage=2 data=2", "stage=2 fsdp=2", "stage=2 expert=2"}},
      {{"a fixed axis", "llama2-7b", "toy-switch", "default", "stage=2,context=2", 4, 1}, {"stage=2 context=2"}},
      {{"none", "llama2-7b", "toy-switch", "default", "stage=1", 4, 1}, {}},
      {{"a range", "llama2-7b", "toy-switch", "default", "stage=1..2,tensor=1", 4, 1},
       {"stage=2 data=2", "stage=2 fsdp=2"}},
      {{"26 layers in the pipeline", "deepseek2-16b", "toy-switch", "ep-as-cp", "data=1,expert=1", 8, 1},
       {"stage=2 fsdp=4"}},
      {{"stages join nodes", "llama2-7b", "toy-switch", "ep-as-cp", "fsdp=1,data=8", 16, 2},
       {"stage=2 data=2x4", "stage=2x1 data=8"}},
  };
  for (const auto& [given, expected] : rows) {
    const SearchSpace space = space_of(given);
    ASSERT_TRUE(space.pipelined_sets.front()) << given.what;
    EXPECT_EQ(names_of(enumerate_pipelined_meshes(space, *space.pipelined_sets.front()), space), expected)
        << given.what;
  }
}

TEST(EnumerateMeshes, SmallCasesInFull) {
  const std::pair<Case, std::set<std::string>> rows[] = {
      {{"dense: no expert axis; fsdp_transpose only beside fsdp", "llama2-7b", "toy-switch", "default", "", 2, 1},
       {"data=2", "fsdp=2", "context=2", "tensor=2", "tensor_sequence=2"}},
      {{"experts", "mixtral-8x7b", "toy-switch", "ep-as-cp", "", 4, 1},
       {"data=4", "fsdp=4", "expert=4", "data=2 fsdp=2", "data=2 expert=2", "fsdp=2 expert=2"}},
      {{"one axis", "llama2-7b", "toy-switch", "pure-fsdp", "", 8, 1}, {"fsdp=8"}},
      {{"one device", "llama2-7b", "toy-switch", "default", "", 1, 1}, {""}},
      {{"an axis fixed", "mixtral-8x7b", "toy-switch", "ep-as-cp", "expert=2", 4, 1},
       {"data=2 expert=2", "fsdp=2 expert=2"}},
      {{"an axis fixed at 1", "mixtral-8x7b", "toy-switch", "ep-as-cp", "expert=1,data=1", 4, 1}, {"fsdp=4"}},
      {{"stages are enumerated apart", "llama2-7b", "toy-switch", "ep-as-cp", "stage=2,fsdp=2", 4, 1}, {}},
      {{"a fixed axis that the rules lack", "llama2-7b", "toy-switch", "pure-fsdp", "fsdp=8", 4, 1}, {}},
      {{"a size that leaves nothing", "llama2-7b", "toy-switch", "ep-as-cp", "fsdp=3", 4, 1}, {}},
      {{"two nodes: data or fsdp joins them", "llama2-7b", "toy-switch", "ep-as-cp", "", 16, 2},
       {"data=2x8", "data=2x4 fsdp=2", "data=2x2 fsdp=4", "data=2x1 fsdp=8", "fsdp=2x8", "data=2 fsdp=2x4",
        "data=4 fsdp=2x2", "data=8 fsdp=2x1"}},
      {{"a fixed axis may span nodes", "mixtral-8x7b", "toy-switch", "ep-as-cp", "expert=8,data=2", 16, 2},
       {"data=2x1 expert=8", "data=2 expert=2x4"}},
  };
  for (const auto& [given, expected] : rows) EXPECT_EQ(meshes_of(given), expected) << given.what;
}

// Two nodes of eight: 8 experts find room in one, 128 don't. Where experts span nodes the devices of a node aren't fsdp's or
// data's.
TEST(EnumerateMeshes, ExpertsThatOutnumberANodeSpanNodes) {
  const auto spans = [](const char* model) {
    std::set<std::string> names;
    for (const std::string& name : meshes_of({"", model, "toy-switch", "ep-as-cp", "", 16, 2}))
      if (name.find("expert=2x") != std::string::npos) names.insert(name);
    return names;
  };
  EXPECT_EQ(spans("qwen3-30b-a3b"), (std::set<std::string>{"expert=2x8"}));
  EXPECT_TRUE(spans("mixtral-8x7b").empty());
}

// Where it is asked for: its sizes are not those of experts that there aren't.
TEST(EnumerateMeshes, DenseModelsHaveAnExpertAxisWhereItIsAskedFor) {
  const Case given{"", "llama2-7b", "toy-switch", "ep-as-cp", "expert=2..8", 8, 1};
  EXPECT_EQ(meshes_of(given), (std::set<std::string>{"expert=8", "data=2 expert=4", "fsdp=2 expert=4", "data=4 expert=2",
                                                     "fsdp=4 expert=2", "data=2 fsdp=2 expert=2"}));
}

TEST(EnumerateMeshes, SizesDivideWhatTheySplit) {
  const auto largest = [](const std::string& axis, const std::set<std::string>& meshes) {
    int most = 1;
    for (const auto& mesh : meshes)
      if (const auto at = (" " + mesh).find(" " + axis + "="); at != std::string::npos)
        most = std::max(most, std::atoi(mesh.c_str() + at + axis.size() + 1));
    return most;
  };
  const auto meshes = meshes_of({"", "mixtral-8x7b", "toy-torus", "default", "", 64, 1});
  EXPECT_EQ(largest("expert", meshes), 8);  // 8 experts
  EXPECT_EQ(largest("tensor", meshes), 8);  // 8 KV heads
  EXPECT_EQ(largest("tensor_sequence", meshes), 8);
  EXPECT_EQ(largest("context", meshes), 64);
  EXPECT_EQ(largest("fsdp", meshes), 64);
}

}  // namespace
}  // namespace shardplan
