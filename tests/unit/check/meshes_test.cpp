#include <gmock/gmock.h>

#include <models/load_model.hpp>
#include <planner/check/check_meshes.hpp>
#include <rules/load_rules.hpp>

namespace shardplan {
namespace {

std::vector<std::string> meshes_of(const std::string& rules, const std::string& model, int devices) {
  std::vector<std::string> names;
  for (const auto& mesh : check_meshes(load_rules(rules), load_model(model), devices)) names.push_back(describe(mesh));
  return names;
}

TEST(CheckMeshes, UseEveryDeviceAndComeOnce) {
  for (const auto& rules : rule_set_names())
    for (const int devices : check_device_counts()) {
      const auto meshes = check_meshes(load_rules(rules), load_model("mixtral-8x7b"), devices);
      EXPECT_FALSE(meshes.empty());
      for (const auto& mesh : meshes) {
        EXPECT_EQ(mesh.devices(), devices) << rules << " " << describe(mesh);
        EXPECT_EQ(std::count(meshes.begin(), meshes.end(), mesh), 1) << rules << " " << describe(mesh);
      }
    }
}

TEST(CheckMeshes, GiveExpertsTheirAxis) {
  EXPECT_THAT(meshes_of("default", "mixtral-8x7b", 8),
              testing::IsSupersetOf({"fsdp=8", "expert=8", "fsdp=2,expert=4"}));
  EXPECT_THAT(meshes_of("default", "mixtral-8x7b", 64), testing::Not(testing::Contains("fsdp=4,expert=16")));
  EXPECT_THAT(meshes_of("default", "deepseek3-671b", 64), testing::Contains("fsdp=4,expert=16"));
}

TEST(CheckMeshes, LeaveTheExpertAxisToExperts) {
  EXPECT_THAT(meshes_of("default", "llama3-8b", 8), testing::Each(testing::Not(testing::HasSubstr("expert"))));
}

TEST(CheckMeshes, UseOnlyTheAxesOfTheRules) {
  EXPECT_THAT(meshes_of("pure-fsdp", "mixtral-8x7b", 64), testing::ElementsAre("fsdp=64"));
}

}  // namespace
}  // namespace shardplan
