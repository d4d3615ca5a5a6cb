// The profile that comes out: fitted figures, and what stood there.
#include <gmock/gmock.h>

#include <compilers/load_compiler.hpp>
#include <hardware/load_profile.hpp>
#include <nlohmann/json.hpp>
#include <planner/calibrate/calibrate.hpp>
#include <planner/calibrate/read_measurements.hpp>
#include <planner/report/calibrate_report.hpp>
#include <shardplan/error.hpp>

namespace shardplan {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;
using testing::ThrowsMessage;

CalibratedMachine calibrated(const std::string& profile) {
  const HardwareProfile hardware = parse_profile(profile, "toy.json");
  return calibrate(hardware, profile, load_compiler(hardware.compiler),
                   read_measurements(TEST_DATA "/calibrate/all_gather_8.log"));
}

TEST(Calibrate, TheProfileSaysWhatWasMeasured) {
  const CalibratedMachine machine = calibrated(profile_json("toy-switch"));
  const HardwareProfile loaded = parse_profile(machine.profile, "my.json");
  EXPECT_NEAR(loaded.link_efficiency.value, 0.8, 1e-4);
  EXPECT_NEAR(loaded.collective_latency->value, 20e-6, 1e-8);
  EXPECT_EQ(loaded.collective_latency->basis, Basis::measured);
  EXPECT_EQ(loaded.hop_latency->value, 1e-6);  // one group doesn't tell it
  const auto document = nlohmann::json::parse(machine.profile);
  EXPECT_EQ(document["collective_latency"]["unit"], "us");
  EXPECT_EQ(document["collective_latency"]["before"]["value"], 5);
  EXPECT_EQ(document["collective_latency"]["before"]["source"], "toy: a round number");
}

TEST(Calibrate, ASecondTimeKeepsWhatStoodThereFirst) {
  const CalibratedMachine again = calibrated(calibrated(profile_json("toy-switch")).profile);
  EXPECT_EQ(nlohmann::json::parse(again.profile)["link_efficiency"]["before"]["value"], 1);
}

TEST(Calibrate, CommentsOfAProfileAreNoObstacle) {
  const std::string profile = profile_json("toy-switch");
  EXPECT_EQ(calibrated("{\n  // as hardware init writes them" + profile.substr(profile.find('{') + 1)).profile,
            calibrated(profile).profile);
}

TEST(Calibrate, ResidualsAreBesideTheirMeasurements) {
  const CalibratedMachine machine = calibrated(profile_json("toy-switch"));
  ASSERT_EQ(machine.residuals.size(), 8U);
  EXPECT_NEAR(machine.residuals[0].error_after(), 0, 1e-3);
  EXPECT_NEAR(machine.residuals[0].before.value, 12.57e-6, 0.01e-6);  // 12 us, and 57 kB at 100 GB/s
}

/// toy-switch: products at 100 TFLOP/s, links of 100 GB/s.
TEST(Calibrate, RefusesWhatNoSuchMachineCanHaveMeasured) {
  const std::string profile = profile_json("toy-switch");
  const HardwareProfile hardware = parse_profile(profile, "toy.json");
  const auto calibrated_with = [&](decltype(Measurement::what) what, double seconds) {
    return [&, what, seconds] {
      calibrate(hardware, profile, load_compiler(hardware.compiler), {{what, {seconds}, "m.csv", 7}});
    };
  };
  const MeasuredProduct product{10000, 10000, 10000, DType::bf16};  // 2e12 FLOPs: 20 ms
  EXPECT_NO_THROW(calibrated_with(product, 0.025)());
  EXPECT_NO_THROW(calibrated_with(product, 0.015)()) << "a clock above the datasheet's";
  EXPECT_THAT(calibrated_with(product, 0.01), ThrowsMessage<InputError>(HasSubstr("m.csv:7: 0.01 s, where toy-switch")));
  const MeasuredCollective gather{CollectiveKind::all_gather, {8'000'000'000}, 8, 1};  // 7 GB a device: 70 ms
  EXPECT_NO_THROW(calibrated_with(gather, 0.08)());
  EXPECT_THAT(calibrated_with(gather, 0.007), ThrowsMessage<InputError>(HasSubstr("at its peak rates would need 0.07 s")));
}

/// The log's measurements as if they were of another device.
Measurements measured_on(const std::string& device) {
  Measurements measurements = read_measurements(TEST_DATA "/calibrate/all_gather_8.log");
  for (Measurement& measured : measurements) measured.device = device;
  return measurements;
}

TEST(Calibrate, SaysWhatWasMeasuredAndRefusesAnotherDevice) {
  const std::string profile = profile_json("toy-switch");
  const HardwareProfile hardware = parse_profile(profile, "toy.json");
  const Compiler compiler = load_compiler(hardware.compiler);
  const CalibratedMachine machine = calibrate(hardware, profile, compiler, measured_on("Toy A"));
  EXPECT_EQ(machine.device, "Toy A");
  EXPECT_THAT(calibrate_text(machine, Style::plain()), HasSubstr("fitted to 8 measurements on Toy A"));
  EXPECT_THAT(calibrate_json(machine), HasSubstr("\"measured_on\": \"Toy A\""));
  Measurements mixed = measured_on("Toy A");
  mixed.back().device = "Toy B";
  EXPECT_THAT([&] { calibrate(hardware, profile, compiler, mixed); },
              ThrowsMessage<InputError>(AllOf(HasSubstr("it is of Toy B, and"), HasSubstr("of Toy A"))));
  const HardwareProfile torus = load_profile("tpu-v5p");
  EXPECT_THAT([&] { calibrate(torus, profile_json("tpu-v5p"), load_compiler(torus.compiler), measured_on("Toy A")); },
              ThrowsMessage<InputError>(HasSubstr("it is of GPUs (Toy A), and tpu-v5p is a torus of TPUs")));
}

// It says how far measured steps were from those that the old figures predict.
TEST(Calibrate, LeavesOutTheErrorOfTheOldFigures) {
  auto profile = nlohmann::ordered_json::parse(profile_json("toy-switch"));
  profile["step_error"] = {{"low", -0.1}, {"high", 0.2}, {"runs", 3}, {"source", "a test"}};
  ASSERT_TRUE(parse_profile(profile.dump(), "toy.json").step_error);
  EXPECT_FALSE(parse_profile(calibrated(profile.dump()).profile, "my.json").step_error);
}

/// The log with its first line, 27.72 us, as it might be in another unit, or a slip of the keyboard.
CalibratedMachine calibrated_with_first_of(double microseconds) {
  const std::string profile = profile_json("toy-switch");
  const HardwareProfile hardware = parse_profile(profile, "toy.json");
  Measurements measurements = read_measurements(TEST_DATA "/calibrate/all_gather_8.log");
  measurements.front().seconds = {microseconds * 1e-6};
  return calibrate(hardware, profile, load_compiler(hardware.compiler), measurements);
}

TEST(Calibrate, WritesNoProfileThatIsNotRead) {
  EXPECT_THAT([] { calibrated_with_first_of(1e300); },
              ThrowsMessage<InputError>(HasSubstr("collective_latency would be 5.1e+33 s (at most an hour")));
}

TEST(Calibrate, RefusesAFitThatIsWorseByOrdersOfMagnitude) {
  EXPECT_THAT([] { calibrated_with_first_of(1e9); },
              ThrowsMessage<InputError>(AllOf(HasSubstr("all_gather_8.log:19: 1e+03 s, where 0.00155 s are predicted"),
                                              HasSubstr("by 1515% in the mean (by 40% before)"))));
}

TEST(Calibrate, WarnsOfAFitThatIsWorse) {
  const std::string text = calibrate_text(calibrated_with_first_of(3000), Style::plain());
  EXPECT_THAT(text, HasSubstr("warning  the fitted figures are further off than those before (103.9% in the mean, 39.5%"));
  EXPECT_THAT(calibrate_text(calibrated(profile_json("toy-switch")), Style::plain()), Not(HasSubstr("warning")));
}

TEST(Calibrate, FiguresKeptAsTheyWereAreRead) {
  auto document = nlohmann::json::parse(calibrated(profile_json("toy-switch")).profile);
  document["link_efficiency"]["before"]["unit"] = "GB/s";
  EXPECT_THROW(parse_profile(document.dump(), "my.json"), std::exception);
}

// 512 cubed is a 4096th of 8192 cubed; 4096 cubed an eighth.
TEST(Calibrate, LeavesOutProductsThatMeasureLaunches) {
  const HardwareProfile hardware = parse_profile(profile_json("toy-switch"), "toy.json");
  const Compiler compiler = load_compiler(hardware.compiler);
  const auto measured = [&](double size, double times, std::int64_t line) {
    Measurement product{MeasuredProduct{size, size, size, DType::bf16}, {}, "gemm.csv", line};
    product.seconds = predict(product, hardware, compiler) * times;
    return product;
  };
  const Measurements large = {measured(8192, 1.25, 2), measured(4096, 1.25, 3)};
  Measurements all = large;
  all.push_back(measured(512, 20, 4));
  const CalibratedMachine machine = calibrate(hardware, profile_json("toy-switch"), compiler, all);
  EXPECT_EQ(machine.profile, calibrate(hardware, profile_json("toy-switch"), compiler, large).profile);
  ASSERT_EQ(machine.left_out.size(), 1U);
  EXPECT_EQ(machine.left_out.front().line, 4);
  EXPECT_THAT(calibrate_text(machine, Style::plain()), HasSubstr("left out  a product of less than a hundredth"));
  EXPECT_THAT(calibrate_json(machine), HasSubstr("512 x 512 x 512"));
}

}  // namespace
}  // namespace shardplan
