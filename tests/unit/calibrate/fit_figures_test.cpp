// Measurements that are made with known figures give these figures back.
#include <gmock/gmock.h>

#include <compilers/load_compiler.hpp>
#include <hardware/load_profile.hpp>
#include <planner/calibrate/fit_figures.hpp>
#include <shardplan/error.hpp>

namespace shardplan {
namespace {

using testing::ElementsAre;

struct Machines {
  HardwareProfile assumed = load_profile("toy-switch");
  HardwareProfile real = assumed;
  Compiler compiler = load_compiler(assumed.compiler);

  Measurement measured(decltype(Measurement::what) what) const {
    Measurement measurement{what, {}, "x.log", 1};
    measurement.seconds = predict(measurement, real, compiler);
    return measurement;
  }
  FittedMachine fit(const Measurements& measurements) const { return fit_figures(assumed, compiler, measurements); }
};

Measurements sweep(const Machines& machines, CollectiveKind kind, int devices, int nodes) {
  Measurements all;
  for (std::int64_t bytes = 4096; bytes <= std::int64_t{1} << 30; bytes *= 8)
    all.push_back(machines.measured(MeasuredCollective{kind, {bytes}, devices, nodes}));
  return all;
}

void append(Measurements& all, const Measurements& more) { all.insert(all.end(), more.begin(), more.end()); }

std::vector<std::string> keys_of(const FittedMachine& fit) {
  std::vector<std::string> keys;
  for (const auto& figure : fit.figures) keys.push_back(figure.key);
  return keys;
}

TEST(FitFigures, GroupsOfSeveralSizesTellHopsFromCollectives) {
  Machines machines;
  machines.real.link_efficiency.value = 0.6;
  machines.real.collective_latency->value = 12e-6;
  machines.real.hop_latency->value = 3e-6;
  machines.real.exchange_efficiency = machines.real.link_efficiency;
  machines.real.exchange_efficiency->value = 0.5;
  Measurements all = sweep(machines, CollectiveKind::all_gather, 8, 1);
  append(all, sweep(machines, CollectiveKind::all_reduce, 2, 1));
  append(all, sweep(machines, CollectiveKind::all_to_all, 4, 1));
  const FittedMachine fit = machines.fit(all);
  EXPECT_THAT(keys_of(fit), ElementsAre("link_efficiency", "exchange_efficiency", "collective_latency", "hop_latency"));
  EXPECT_NEAR(fit.hardware.exchange_efficiency->value, 0.5, 1e-4);
  EXPECT_FALSE(fit.figures[1].before);
  EXPECT_NEAR(fit.hardware.link_efficiency.value, 0.6, 1e-4);
  EXPECT_NEAR(fit.hardware.collective_latency->value, 12e-6, 1e-9);
  EXPECT_NEAR(fit.hardware.hop_latency->value, 3e-6, 1e-9);
  EXPECT_EQ(fit.hardware.link_efficiency.basis, Basis::measured);
  EXPECT_THAT(fit.hardware.link_efficiency.source, testing::HasSubstr("x.log"));
  EXPECT_EQ(fit.figures[0].before->value, 1);
}

TEST(FitFigures, OneGroupTellsTheSumOfLatencies) {
  Machines machines;
  machines.real.collective_latency->value = 20e-6;
  const FittedMachine fit = machines.fit(sweep(machines, CollectiveKind::reduce_scatter, 8, 1));
  EXPECT_THAT(keys_of(fit), ElementsAre("link_efficiency", "collective_latency"));
  EXPECT_NEAR(fit.hardware.collective_latency->value, 20e-6, 1e-9);
  EXPECT_THAT(fit.untold, testing::Contains("hop_latency"));
}

TEST(FitFigures, LargeMessagesAloneTellNoLatency) {
  Machines machines;
  machines.real.link_efficiency.value = 0.5;
  const FittedMachine fit = machines.fit(
      {machines.measured(MeasuredCollective{CollectiveKind::all_gather, {std::int64_t{1} << 30}, 8, 1}),
       machines.measured(MeasuredCollective{CollectiveKind::all_gather, {std::int64_t{1} << 31}, 8, 1})});
  EXPECT_THAT(keys_of(fit), ElementsAre("link_efficiency"));
}

TEST(FitFigures, SeveralNodesTellWhatIsBetweenThem) {
  Machines machines;
  machines.real.scale_out_efficiency.value = 0.7;
  machines.real.scale_out_latency.value = 40e-6;
  Measurements all = sweep(machines, CollectiveKind::all_gather, 8, 1);
  append(all, sweep(machines, CollectiveKind::all_gather, 16, 2));
  const FittedMachine fit = machines.fit(all);
  EXPECT_NEAR(fit.hardware.scale_out_efficiency.value, 0.7, 1e-3);
  EXPECT_NEAR(fit.hardware.scale_out_latency.value, 40e-6, 1e-8);
  EXPECT_NEAR(fit.hardware.link_efficiency.value, 1, 1e-3);
}

// NCCL pipelines what crosses nodes with what doesn't: faster than levels that take turns can say.
TEST(FitFigures, WhatIsInsideIsToldByNodesAlone) {
  Machines machines;
  machines.real.link_efficiency.value = 0.8;
  Measurements all = sweep(machines, CollectiveKind::all_gather, 8, 1);
  Measurements between = sweep(machines, CollectiveKind::all_gather, 16, 2);
  for (Measurement& measured : between) measured.seconds = measured.seconds * 0.8;
  append(all, between);
  const FittedMachine fit = machines.fit(all);
  EXPECT_NEAR(fit.hardware.link_efficiency.value, 0.8, 1e-3);
  EXPECT_THAT(keys_of(fit), testing::Contains("scale_out_efficiency"));
}

TEST(FitFigures, SeveralNodesAloneTellNothingOfWhatIsInside) {
  Machines machines;
  machines.real.scale_out_efficiency.value = 0.7;
  const FittedMachine fit = machines.fit(sweep(machines, CollectiveKind::all_gather, 16, 2));
  EXPECT_THAT(keys_of(fit), ElementsAre("scale_out_efficiency", "scale_out_latency"));
  EXPECT_EQ(fit.hardware.link_efficiency.value, machines.assumed.link_efficiency.value);
}

TEST(FitFigures, ShareThatNothingHasIsAnError) {
  Machines machines;
  Measurement slow = machines.measured(MeasuredProduct{8192, 8192, 8192, DType::bf16});
  slow.seconds = slow.seconds * 1000;  // milliseconds in place of seconds
  EXPECT_THROW(machines.fit({slow}), InputError);
}

TEST(FitFigures, ProductsAndKernelsHaveTheirOwn) {
  Machines machines;
  machines.real.matmul_efficiency.value = 0.65;
  machines.real.hbm_efficiency.value = 0.8;
  const FittedMachine fit = machines.fit({machines.measured(MeasuredProduct{8192, 8192, 8192, DType::bf16}),
                                          machines.measured(MeasuredFlops{{1e15}}),
                                          machines.measured(MeasuredTraffic{{100'000'000'000}})});
  EXPECT_THAT(keys_of(fit), ElementsAre("matmul_efficiency", "hbm_efficiency"));
  EXPECT_NEAR(fit.hardware.matmul_efficiency.value, 0.65, 1e-6);
  EXPECT_NEAR(fit.hardware.hbm_efficiency.value, 0.8, 1e-6);
}

TEST(FitFigures, SmallProductsTellNothingOfHbm) {
  Machines machines;
  Measurement small = machines.measured(MeasuredProduct{64, 64, 64, DType::bf16});
  small.seconds = small.seconds * 4;
  const FittedMachine fit = machines.fit({machines.measured(MeasuredProduct{8192, 8192, 8192, DType::bf16}), small});
  EXPECT_THAT(keys_of(fit), ElementsAre("matmul_efficiency"));
}

TEST(FitFigures, AHostHasNoMoreDevicesThanANode) {
  Machines machines;
  Measurement gather{MeasuredCollective{CollectiveKind::all_gather, {1 << 20}, 16, 1}, {1e-3}, "x.log", 7};
  EXPECT_THAT([&] { machines.fit({gather}); },
              testing::ThrowsMessage<InputError>(
                  testing::HasSubstr("x.log:7: 16 devices on 1 host: toy-switch has 8 a node")));
}

TEST(FitFigures, Fp8ProductsMakeAFigureThatTheMachineHadNot) {
  Machines machines;
  machines.assumed = load_profile("mi355x");
  machines.assumed.fp8_matmul_efficiency.reset();
  machines.real = machines.assumed;
  machines.real.fp8_matmul_efficiency = machines.assumed.matmul_efficiency;
  machines.real.fp8_matmul_efficiency->value = 0.4;
  const FittedMachine fit = machines.fit({machines.measured(MeasuredProduct{16384, 16384, 16384, DType::f8})});
  EXPECT_THAT(keys_of(fit), ElementsAre("fp8_matmul_efficiency"));
  EXPECT_FALSE(fit.figures[0].before);
  EXPECT_NEAR(fit.hardware.fp8_matmul_efficiency->value, 0.4, 1e-6);
}

TEST(FitFigures, ALatencyThatRunsIntoNothingIsMarked) {
  Machines machines;
  machines.real.collective_latency->value = machines.real.hop_latency->value = 1e-15;
  const FittedMachine fit = machines.fit(sweep(machines, CollectiveKind::all_gather, 8, 1));
  ASSERT_THAT(keys_of(fit), ElementsAre("link_efficiency", "collective_latency"));
  EXPECT_FALSE(fit.figures[0].vanishes);
  EXPECT_TRUE(fit.figures[1].vanishes);
}

TEST(FitFigures, AShareIsHeldAtOne) {
  Machines machines;
  Measurement fast = machines.measured(MeasuredCollective{CollectiveKind::all_gather, {std::int64_t{1} << 30}, 8, 1});
  fast.seconds = fast.seconds * 0.5;
  const FittedMachine fit = machines.fit({fast});
  EXPECT_EQ(fit.hardware.link_efficiency.value, 1);
  EXPECT_TRUE(fit.figures.at(0).at_most);
}

TEST(FitFigures, WhatTellsNothingIsAnError) {
  Machines machines;
  machines.assumed = machines.real = load_profile("tpu-v5p");
  machines.compiler = load_compiler(machines.assumed.compiler);
  EXPECT_THROW(machines.fit({machines.measured(MeasuredProduct{8192, 8192, 8192, DType::bf16})}), InputError);
}

TEST(FitFigures, WhatTheMachineHasNotIsAnError) {
  const Machines machines;
  EXPECT_THROW(machines.fit({{MeasuredCollective{CollectiveKind::all_gather, {1 << 20}, 3, 1}, {1}, "x.log", 7}}),
               InputError);
  EXPECT_THROW(machines.fit({{MeasuredProduct{64, 64, 64, DType::f8}, {1}, "x.csv", 2}}), InputError);
}

}  // namespace
}  // namespace shardplan
