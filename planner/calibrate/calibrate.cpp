#include <fmt/format.h>

#include <formats/print_json.hpp>
#include <nlohmann/json.hpp>
#include <planner/calibrate/calibrate.hpp>

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

}  // namespace

CalibratedMachine calibrate(const HardwareProfile& hardware, const std::string& profile, const Compiler& compiler,
                      const Measurements& measurements) {
  FittedMachine fit = fit_figures(hardware, compiler, measurements);
  CalibratedMachine calibration{hardware.name, std::move(fit.figures), std::move(fit.untold), {}, {}};
  for (const auto& measurement : measurements)
    calibration.residuals.push_back({measurement, predict(measurement, hardware, compiler),
                                     predict(measurement, fit.hardware, compiler)});
  calibration.profile = profile_with(profile, calibration.figures);
  return calibration;
}

}  // namespace shardplan
