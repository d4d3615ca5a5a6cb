#include <planner/report/calibrate_report.hpp>
#include <planner/report/json/json_values.hpp>
#include <planner/report/profile_figures.hpp>

namespace shardplan {
namespace {

OrderedJson json_figure(const FittedFigure& fitted) {
  const auto value = [&](const Figure& figure) {
    return json_number(figure.value / si_factor(figure.unit, fitted.dimension, fitted.key), fitted.key);
  };
  return {{"figure", fitted.key},
          {"unit", fitted.after.unit},
          {"before", fitted.before ? value(*fitted.before) : OrderedJson()},
          {"before_basis", fitted.before ? OrderedJson(name_of(fitted.before->basis)) : OrderedJson()},
          {"after", value(fitted.after)},
          {"held_at_1", fitted.at_most},
          {"ran_into_0", fitted.vanishes}};
}

OrderedJson json_residual(const Residual& residual) {
  const auto& m = residual.measurement;
  return {{"file", m.file},
          {"line", m.line > 0 ? OrderedJson(m.line) : OrderedJson()},
          {"what", measured_words(m)},
          {"measured_seconds", json_number(m.seconds.value, m.file)},
          {"predicted_before_seconds", json_number(residual.before.value, m.file)},
          {"predicted_seconds", json_number(residual.after.value, m.file)}};
}

OrderedJson json_left_out(const Measurement& measured) {
  return {{"file", measured.file}, {"line", measured.line}, {"what", measured_words(measured)}};
}

}  // namespace

std::string calibrate_json(const CalibratedMachine& machine) {
  OrderedJson figures = OrderedJson::array(), residuals = OrderedJson::array(),
              left_out = OrderedJson::array();
  for (const auto& figure : machine.figures) figures.push_back(json_figure(figure));
  for (const auto& residual : machine.residuals) residuals.push_back(json_residual(residual));
  for (const auto& measured : machine.left_out) left_out.push_back(json_left_out(measured));
  return print_document({{"schema_version", schema_version},
                         {"command", "calibrate"},
                         {"hardware", machine.hardware},
                         {"measured_on", machine.device.empty() ? OrderedJson() : OrderedJson(machine.device)},
                         {"figures", std::move(figures)},
                         {"unchanged", machine.untold},
                         {"measurements", std::move(residuals)},
                         {"left_out", std::move(left_out)}});
}

}  // namespace shardplan
