// How many slices or nodes a number of chips is.
#include <gmock/gmock.h>

#include <hardware/load_profile.hpp>
#include <hardware/machine_of_chips.hpp>
#include <shardplan/error.hpp>

namespace shardplan {
namespace {

struct Made {
  int slices, chips;  ///< chips of a slice
  bool operator==(const Made&) const = default;
};

Made made(const std::string& profile, int chips, std::optional<int> slices = std::nullopt) {
  const Machine machine = machine_of(load_profile(profile), chips, slices);
  return {machine.num_slices, machine.slice.chips};
}

std::string refusal(const std::string& profile, int chips, std::optional<int> slices = std::nullopt) try {
  made(profile, chips, slices);
  return "";
} catch (const InputError& error) {
  return error.what();
}

TEST(MachineOfChips, IsTheFewestSlicesUnlessAsked) {
  EXPECT_EQ(made("tpu-v5p", 64), (Made{1, 64}));
  EXPECT_EQ(made("tpu-v5p", 8192), (Made{2, 4096}));
  EXPECT_EQ(made("tpu-v6e", 512), (Made{2, 256}));
  EXPECT_EQ(made("tpu-v6e", 96), (Made{3, 32}));
  EXPECT_EQ(made("tpu-v5p", 64, 4), (Made{4, 16}));
  EXPECT_EQ(made("tpu-v6e", 1), (Made{1, 1}));
  EXPECT_EQ(made("tpu-v6e", 7, 7), (Made{7, 1})) << "slices of one chip are for who asks";
}

TEST(MachineOfChips, IsWholeNodesOrAPartOfOne) {
  EXPECT_EQ(made("h100", 4), (Made{1, 4}));
  EXPECT_EQ(made("h100", 32), (Made{4, 8}));
  EXPECT_EQ(made("h100", 8, 2), (Made{2, 4}));
  EXPECT_EQ(made("h100", 32, 8), (Made{8, 4}));
}

TEST(MachineOfChips, ImpossibleCountsSayWhatIsPossible) {
  EXPECT_EQ(refusal("tpu-v5p", 6), "tpu-v5p has no slices that make 6 chips; nearest: 4 (1 slice) or 8 (1 slice)");
  EXPECT_EQ(refusal("tpu-v6e", 7), "tpu-v6e has no slices that make 7 chips; nearest: 4 (1 slice) or 8 (1 slice)");
  EXPECT_EQ(refusal("tpu-v6e", 9), "tpu-v6e has no slices that make 9 chips; nearest: 8 (1 slice) or 12 (3 slices)");
  EXPECT_EQ(refusal("tpu-v6e", 2), "tpu-v6e has no slices that make 2 chips; nearest: 1 (1 slice) or 4 (1 slice)");
  EXPECT_EQ(refusal("tpu-v6e", 64, 3),
            "tpu-v6e has no 3 slices that make 64 chips; possible: 1 slice of 64, 2 slices of 32, 4 slices of 16, 8 slices "
            "of 8, 16 slices of 4, 64 slices of 1");
  EXPECT_EQ(refusal("tpu-v5p", 2000000001), "tpu-v5p has no slices that make 2,000,000,001 chips; nearest: 2000000000 "
                                             "(390,625 slices) or 2000000004 (500,000,001 slices)");
  EXPECT_THAT(refusal("h100", 20), testing::HasSubstr("nearest: 16 or 24"));
  EXPECT_EQ(refusal("h100", 32, 2), "h100 has 8 chips a node: 32 chips don't fit in 2 nodes; in 4 they do");
  EXPECT_THAT(refusal("h100", 0), testing::HasSubstr("expected at least 1"));
}

}  // namespace
}  // namespace shardplan
