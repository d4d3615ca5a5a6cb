// Machines as people call them.
#include <gmock/gmock.h>

#include <hardware/load_profile.hpp>
#include <hardware/machine_names.hpp>
#include <map>
#include <shardplan/error.hpp>
#include <shardplan/spelling.hpp>

namespace shardplan {
namespace {

using testing::HasSubstr;
using testing::ThrowsMessage;

TEST(MachineNames, AreKnownHoweverTheyAreSpelled) {
  const std::pair<const char*, const char*> rows[] = {
      {"v5p", "tpu-v5p"},      {"V5P", "tpu-v5p"},       {"TPU v5p", "tpu-v5p"},     {"tpu-v5p", "tpu-v5p"},
      {"trillium", "tpu-v6e"}, {"Ironwood", "tpu-7x"},   {"tpu7x", "tpu-7x"},        {"v5litepod", "tpu-v5e"},
      {"H100", "h100"},        {"h100-80gb", "h100"},    {"H100_80GB_HBM3", "h100"}, {"MI355X", "mi355x"},
      {"AMD MI300X", "mi300x"}};
  for (const auto& [called, name] : rows) {
    EXPECT_EQ(profile_called(called), name) << called;
    EXPECT_EQ(load_profile(called).name, name) << called;
  }
  EXPECT_EQ(profile_called("tpu-v5"), std::nullopt) << "v5e or v5p";
  EXPECT_EQ(profile_called(""), std::nullopt);
}

TEST(MachineNames, AreOneMachinesEach) {
  std::map<std::string, std::string> owner;
  for (const auto& name : profile_names()) {
    auto all = load_profile(name).aliases;
    all.push_back(name);
    for (const auto& alias : all) {
      const auto [known, is_new] = owner.emplace(same_spelling(alias), name);
      EXPECT_TRUE(is_new) << alias << " is a name of " << known->second << " and of " << name;
    }
  }
}

/// Else "v5p-16" could be a machine without a size.
TEST(MachineNames, AreNoSlices) {
  for (const auto& name : profile_names())
    for (const auto& slice : load_profile(name).slices) EXPECT_EQ(profile_called(slice.name), std::nullopt) << slice.name;
}

TEST(MachineNames, MaySayHowMuchOfIt) {
  const std::tuple<const char*, const char*, int> rows[] = {
      {"v5p-16", "tpu-v5p", 8},   {"V5P-16", "tpu-v5p", 8},  {"tpu-v5p-16", "tpu-v5p", 8}, {"v6e-16", "tpu-v6e", 16},
      {"trillium-8", "tpu-v6e", 8}, {"tpu7x-16", "tpu-7x", 8}, {"tpu-7x-16", "tpu-7x", 8},   {"ironwood-16", "tpu-7x", 8},
      {"h100-8", "h100", 8},      {"H100-16", "h100", 16}};
  for (const auto& [called, name, chips] : rows) {
    const MachineName machine = machine_called(called);
    EXPECT_EQ(machine.profile, name) << called;
    EXPECT_EQ(machine.slice ? machine.slice->chips : 0, chips) << called;
  }
  EXPECT_FALSE(machine_called("h100-80gb").slice);
  EXPECT_EQ(machine_called("./mine.json").profile, "./mine.json");
  EXPECT_EQ(machine_called("nonsense-8").profile, "nonsense-8");
  EXPECT_THAT([] { machine_called("v5p-15"); },
              ThrowsMessage<InputError>(HasSubstr("tpu-v5p has no v5p-15; nearest: v5p-8 (4 chips) or v5p-16 (8 chips)")));
}

TEST(MachineNames, HaveNoSizeWhereAMachineIsMeant) {
  for (const char* name : {"v5p", "h100", "toy-switch", "./v5p-16.json", "nonsense-16"})
    EXPECT_NO_THROW(check_has_no_size("--hardware", name)) << name;
  EXPECT_THAT([] { check_has_no_size("--hardware", "v5p-16"); },
              testing::ThrowsMessage<InputError>(
                  "--hardware v5p-16: that is 8 chips of tpu-v5p, and here a machine has no size; give tpu-v5p"));
}

}  // namespace
}  // namespace shardplan
