#include <fmt/format.h>

#include <formats/print_json.hpp>
#include <nlohmann/json.hpp>
#include <planner/calibrate/calibrate.hpp>
#include <planner/calibrate/predict.hpp>
#include <shardplan/error.hpp>
#include <variant>

namespace shardplan {
namespace {

using OrderedJson = nlohmann::ordered_json;

/// Six digits, more than any measurement has.
double rounded(double value) { return std::stod(fmt::format("{:.6g}", value)); }

/// In the unit that the profile has; what stood there is kept, or what stood there before that.
void put(OrderedJson& profile, const FittedFigure& fitted) {
  const double unit = si_factor(fitted.after.unit, fitted.dimension, fitted.key);
  OrderedJson figure = {{"value", rounded(fitted.after.value / unit)},
                 {"unit", fitted.after.unit},
                 {"source", fitted.after.source},
                 {"basis", "measured"}};
  if (const auto old = profile.find(fitted.key); old != profile.end())
    figure["before"] = old->contains("before") ? (*old)["before"] : *old;
  profile[fitted.key] = std::move(figure);
}

/// A line for each key.
std::string profile_with(const std::string& profile, const std::vector<FittedFigure>& figures) {
  OrderedJson document = OrderedJson::parse(profile, nullptr, true, /*ignore_comments=*/true);
  for (const auto& figure : figures) put(document, figure);
  std::string text = "{";
  for (const auto& [key, value] : document.items())
    text += fmt::format("{}\n  {}: {}", text.size() > 1 ? "," : "", print_json(OrderedJson(key)), print_json(value));
  return text + "\n}\n";
}

/// The machine if nothing of it were lost.
HardwareProfile at_its_peaks(HardwareProfile machine) {
  for (Figure* share : {&machine.matmul_efficiency, &machine.hbm_efficiency, &machine.link_efficiency,
                        &machine.scale_out_efficiency})
    share->value = 1;
  for (auto* share : {&machine.fp8_matmul_efficiency, &machine.exchange_efficiency})
    if (*share) (*share)->value = 1;
  for (auto* latency : {&machine.collective_latency, &machine.hop_latency})
    if (*latency) (*latency)->value = 0;
  machine.scale_out_latency.value = 0;
  for (Protocol& protocol : machine.protocols) protocol = {protocol.name, {}, {}, protocol.bandwidth_share};
  machine.product_tables.clear();
  return machine;
}

/// Clocks above the datasheet's and sums inside switches are faster than what is expected of peaks; a unit that is wrong is
/// far beyond.
double most_beyond_peaks(const Measurement& measurement) {
  return std::holds_alternative<MeasuredCollective>(measurement.what) ? 3 : 1.5;
}

void check_possible(const Measurements& measurements, const HardwareProfile& hardware, const Compiler& compiler) {
  const HardwareProfile best = at_its_peaks(hardware);
  HardwareProfile cached = best;
  cached.hbm_bandwidth.value *= 1000;  // a product that is repeated may find its operands in a cache
  for (const Measurement& measured : measurements) {
    const bool is_product = std::holds_alternative<MeasuredProduct>(measured.what);
    const Seconds least = predict(measured, is_product ? cached : best, compiler);
    if (measured.seconds * most_beyond_peaks(measured) >= least) continue;
    const std::string line = measured.line > 0 ? fmt::format(":{}", measured.line) : "";
    throw InputError(fmt::format("{}{}: {:.3g} s, where {} at its peak rates would need {:.3g} s: is it of another "
                                 "machine, or in another unit?",
                                 measured.file, line, measured.seconds.value, hardware.name, least.value));
  }
}

}  // namespace

CalibratedMachine calibrate(const HardwareProfile& hardware, const std::string& profile, const Compiler& compiler,
                      const Measurements& measurements) {
  check_possible(measurements, hardware, compiler);
  FittedMachine fit = fit_figures(hardware, compiler, measurements);
  CalibratedMachine calibration{hardware.name, std::move(fit.figures), std::move(fit.untold), {}, {}};
  for (const auto& measurement : measurements)
    calibration.residuals.push_back({measurement, predict(measurement, hardware, compiler),
                                     predict(measurement, fit.hardware, compiler)});
  calibration.profile = profile_with(profile, calibration.figures);
  return calibration;
}

}  // namespace shardplan
