#include <gmock/gmock.h>

#include <fstream>
#include <hardware/load_profile.hpp>
#include <hardware/slices.hpp>
#include <map>
#include <shardplan/error.hpp>
#include <sstream>

namespace shardplan {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::ThrowsMessage;

std::string shape_of(const Slice& slice) {
  std::string text;
  for (const int extent : slice.torus) text += (text.empty() ? "" : "x") + std::to_string(extent);
  return text;
}

std::string wraps_of(const Slice& slice) {
  std::string text;
  for (const bool wraps : slice.wraps) text += wraps ? 'y' : 'n';
  return text;
}

std::map<std::string, Slice> all_slices() {
  std::map<std::string, Slice> slices;
  for (const std::string& profile : profile_names())
    for (const Slice& slice : load_profile(profile).slices) slices.emplace(slice.name, slice);
  return slices;
}

/// All names that MaxText knows, with chips, devices, torus and wraparound.
TEST(Slices, EveryNameOfMaxText) {
  const auto slices = all_slices();
  std::ifstream file(TEST_DATA "/hardware/slices.txt");
  int rows = 0;
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with("#")) continue;
    std::istringstream words(line);
    std::string name, shape, wraps;
    int chips = 0, devices = 0;
    ASSERT_TRUE(words >> name >> chips >> devices >> shape >> wraps) << line;
    ++rows;
    ASSERT_TRUE(slices.contains(name)) << name;
    const Slice& slice = slices.at(name);
    EXPECT_EQ(slice.chips, chips) << name;
    EXPECT_EQ(slice.devices, devices) << name;
    EXPECT_EQ(shape_of(slice), shape) << name;
    EXPECT_EQ(wraps_of(slice), wraps) << name;
  }
  EXPECT_EQ(rows, 223);
}

TEST(Slices, NamesSayTheMachine) {
  const struct {
    const char *name, *profile;
    int chips, devices;
  } rows[] = {
      {"v5p-16", "tpu-v5p", 8, 8},   {"v6e-8", "tpu-v6e", 8, 8},   {"tpu7x-128", "tpu-7x", 64, 128},
      {"v5e-16", "tpu-v5e", 16, 16}, {"v4-8", "tpu-v4", 4, 4},     {"h100-8", "h100", 8, 8},
      {"h100-16", "h100", 16, 16},   {"mi355x-4", "mi355x", 4, 4},
  };
  for (const auto& row : rows) {
    const auto named = slice_named(row.name);
    EXPECT_EQ(named.profile, row.profile);
    EXPECT_EQ(named.slice.chips, row.chips);
    EXPECT_EQ(named.slice.devices, row.devices);
  }
}

TEST(Slices, UnknownNamesGetTheNearest) {
  EXPECT_THAT([] { slice_named("v5p-17"); },
              ThrowsMessage<InputError>(HasSubstr("tpu-v5p has no v5p-17; nearest: v5p-16 (8 chips) or v5p-32 (16 chips)")));
  EXPECT_THAT([] { slice_named("h100-12"); },
              ThrowsMessage<InputError>(HasSubstr("h100 has no h100-12; nearest: 8 or 16 chips")));
  EXPECT_THAT([] { slice_named("h100-0"); }, ThrowsMessage<InputError>(testing::EndsWith("nearest: 1 chip")));
  EXPECT_THAT([] { slice_named("v5p-16x"); }, ThrowsMessage<InputError>(HasSubstr("nearest: v5p-16")));
}

TEST(Slices, ChipCounts) {
  const struct {
    const char* profile;
    int chips;
    const char* name;
  } rows[] = {
      {"tpu-v5p", 8, "v5p-16"}, {"tpu-v5p", 64, "v5p-128"},  {"tpu-v6e", 8, "v6e-8"},
      {"tpu-7x", 4, "tpu7x-8"}, {"tpu-7x", 64, "tpu7x-128"}, {"h100", 1, "h100-1"},
      {"h100", 8, "h100-8"},    {"h100", 32, "h100-32"},     {"mi355x", 2, "mi355x-2"},
  };
  for (const auto& row : rows) EXPECT_EQ(slice_of_chips(load_profile(row.profile), row.chips).name, row.name);
}

TEST(Slices, ChipCountsThatDoNotExist) {
  const struct {
    const char* profile;
    int chips;
    const char* message;
  } rows[] = {
      {"tpu-v5p", 7, "tpu-v5p has no slice of 7 chips; nearest: 4 or 8"},
      {"tpu-v5p", 1, "nearest: 4"},
      {"tpu-v6e", 512, "nearest: 256"},
      {"tpu-7x", 65, "nearest: 64 or 128"},
      {"h100", 6, "h100 has no slice of 6 chips; nearest: 4 or 8"},
      {"h100", 20, "nearest: 16 or 24"},
      {"h100", 0, "nearest: 1"},
      {"h100", -8, "nearest: 1"},
  };
  for (const auto& row : rows)
    EXPECT_THAT([&] { slice_of_chips(load_profile(row.profile), row.chips); },
                ThrowsMessage<InputError>(HasSubstr(row.message)));
}

TEST(Slices, AWholeNodeIsNearerThanTheLargestListedPart) {
  HardwareProfile profile = load_profile("h100");
  profile.chips_per_node = 72;
  EXPECT_THAT([&] { slice_of_chips(profile, 64); },
              ThrowsMessage<InputError>(HasSubstr("nearest: 8 or 72 (parts of a node of 72 are those of its slices)")));
}

TEST(Slices, TheMostCubicShapeOfACount) {
  auto text = profile_json("toy-torus");
  text.replace(text.find("\"4x4x4\""), 7, "\"4x4x4\", \"1x8x8\", \"2x4x8\"");
  text.replace(text.find("\"2x2x2\""), 7, "\"1x2x4\", \"2x2x2\"");
  const auto profile = parse_profile(text, "mine.json");
  EXPECT_THAT(slice_of_chips(profile, 64).torus, ElementsAre(4, 4, 4));
  EXPECT_THAT(slice_of_chips(profile, 8).torus, ElementsAre(2, 2, 2));
  EXPECT_EQ(slice_of_chips(profile, 8).name, "toy-torus-8-2x2x2");  // the plain name is the first shape's
}

}  // namespace
}  // namespace shardplan
