#include <gmock/gmock.h>

#include <shardplan/error.hpp>
#include <shardplan/evaluation.hpp>
#include <shardplan/machine/memory_limits.hpp>

namespace shardplan {
namespace {

HardwareProfile machine(std::optional<double> fraction) {
  HardwareProfile profile;
  profile.name = "toy";
  profile.hbm_capacity.value = 100e9;
  if (fraction) profile.process_memory_fraction = Figure{*fraction, "1", "toy", Basis::assumed};
  return profile;
}

TEST(MemoryLimits, AProcessTakesTheAskedShareOrTheMachines) {
  EXPECT_EQ(memory_capacity(machine(std::nullopt), {}).value, 100'000'000'000);
  EXPECT_EQ(memory_capacity(machine(0.75), {}).value, 75'000'000'000);
  EXPECT_EQ(memory_capacity(machine(0.75), {0.9, {}}).value, 90'000'000'000);
  EXPECT_THROW(check_memory_limits({0.9, {}}, machine(std::nullopt)), InputError);
  EXPECT_NO_THROW(check_memory_limits({0.9, {}}, machine(0.75)));
  EXPECT_NO_THROW(check_memory_limits({{}, {0.99, {}}}, machine(std::nullopt)));
  EXPECT_THROW(check_memory_limits({{}, {1, {}}}, machine(std::nullopt)), InputError);
  EXPECT_THROW(check_memory_limits({{}, {0, Bytes{100'000'000'000}}}, machine(std::nullopt)), InputError);
  EXPECT_THROW(check_memory_limits({{}, {0, Bytes{80'000'000'000}}}, machine(0.75)), InputError);
}

TEST(MemoryLimits, AReserveIsAShareOrBytes) {
  EXPECT_EQ(reserved_memory(Bytes{200}, {0.08, {}}).value, 16);
  EXPECT_EQ(reserved_memory(Bytes{200}, {0, Bytes{30}}).value, 30);
}

TEST(Fit, DependsOnBothEndsOfTheRange) {
  const auto fit = [](std::int64_t low, std::int64_t high, std::int64_t reserved) {
    MemoryUse use;
    use.low = {low};
    use.high = {high};
    use.capacity = {100};
    use.reserved = {reserved};
    return use.fit();
  };
  EXPECT_EQ(fit(90, 100, 0), Fit::fits);
  EXPECT_EQ(fit(90, 101, 0), Fit::marginal);
  EXPECT_EQ(fit(90, 95, 6), Fit::marginal);
  EXPECT_EQ(fit(100, 120, 0), Fit::marginal);
  EXPECT_EQ(fit(101, 120, 0), Fit::does_not_fit);
  EXPECT_EQ(name_of(Fit::does_not_fit), "does_not_fit");
}

}  // namespace
}  // namespace shardplan
