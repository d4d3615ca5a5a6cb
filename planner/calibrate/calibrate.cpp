#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <formats/print_json.hpp>
#include <map>
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
  document.erase("step_error");
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
    throw InputError(fmt::format("{}: {:.3g} s, where {} at its peak rates would need {:.3g} s: is it of another "
                                 "machine, or in another unit?",
                                 place_of(measured), measured.seconds.value, hardware.name, least.value));
  }
}

/// The one device that all files which name one have measured.
std::string device_of(const Measurements& measurements, const HardwareProfile& hardware) {
  const Measurement* first = nullptr;
  for (const Measurement& measured : measurements) {
    if (measured.device.empty()) continue;
    if (hardware.fabric == FabricKind::torus)
      throw InputError(fmt::format("{}: it is of GPUs ({}), and {} is a torus of TPUs", place_of(measured), measured.device,
                                   hardware.name));
    if (first == nullptr) first = &measured;
    if (measured.device != first->device)
      throw InputError(fmt::format("{}: it is of {}, and {} of {}: figures are one machine's", place_of(measured),
                                   measured.device, first->file, first->device));
  }
  return first == nullptr ? "" : first->device;
}

double flops_of(const MeasuredProduct& product) { return 2 * product.m * product.n * product.k; }

/// Those that tell figures, and products too small for that.
std::pair<Measurements, Measurements> parted_by_size(const Measurements& measurements) {
  constexpr double small = 0.01;  // 1024 cubed beside 8192 cubed is 0.002, 4096 cubed 0.125
  std::map<DType, double> largest;
  for (const Measurement& measured : measurements)
    if (const auto* product = std::get_if<MeasuredProduct>(&measured.what))
      largest[product->dtype] = std::max(largest[product->dtype], flops_of(*product));
  std::pair<Measurements, Measurements> parts;
  for (const Measurement& measured : measurements) {
    const auto* product = std::get_if<MeasuredProduct>(&measured.what);
    const bool is_small = product && flops_of(*product) < small * largest[product->dtype];
    (is_small ? parts.second : parts.first).push_back(measured);
  }
  return parts;
}

/// Least squares of logarithms: one measurement that is wrong by orders of magnitude draws the figures away from all
/// others.
void check_fits_better(const CalibratedMachine& machine) {
  constexpr double most_worse = 10;
  const double before = mean_error(machine.residuals, &Residual::error_before);
  const double after = mean_error(machine.residuals, &Residual::error_after);
  if (after <= 1 || after <= most_worse * before) return;
  const Residual& odd = oddest(machine.residuals);
  throw InputError(fmt::format("{}: {:.3g} s, where {:.3g} s are predicted from all measurements together, which the fitted "
                               "figures miss by {:.0f}% in the mean (by {:.0f}% before): is it right?",
                               place_of(odd.measurement), odd.measurement.seconds.value, odd.after.value, 100 * after,
                               100 * before));
}

}  // namespace

double mean_error(const std::vector<Residual>& residuals, double (Residual::*error)() const) {
  double sum = 0;
  for (const Residual& residual : residuals) sum += std::abs((residual.*error)());
  return sum / static_cast<double>(residuals.size());
}

const Residual& oddest(const std::vector<Residual>& residuals) {
  const auto off = [](const Residual& residual) {
    return std::abs(std::log(residual.after / residual.measurement.seconds));
  };
  return *std::max_element(residuals.begin(), residuals.end(),
                           [&](const Residual& a, const Residual& b) { return off(a) < off(b); });
}

CalibratedMachine calibrate(const HardwareProfile& hardware, const std::string& profile, const Compiler& compiler,
                      const Measurements& measurements) {
  const std::string device = device_of(measurements, hardware);
  check_possible(measurements, hardware, compiler);
  auto [told, left_out] = parted_by_size(measurements);
  FittedMachine fit = fit_figures(hardware, compiler, told);
  CalibratedMachine calibration{hardware.name, std::move(fit.figures), std::move(fit.untold), {}, std::move(left_out),
                                device, {}};
  for (const auto& measurement : told)
    calibration.residuals.push_back({measurement, predict(measurement, hardware, compiler),
                                     predict(measurement, fit.hardware, compiler)});
  check_fits_better(calibration);
  calibration.profile = profile_with(profile, calibration.figures);
  return calibration;
}

}  // namespace shardplan
