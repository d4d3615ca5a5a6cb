#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cmath>
#include <planner/report/calibrate_report.hpp>
#include <planner/report/humanize.hpp>
#include <planner/report/profile_figures.hpp>
#include <planner/report/text/text_table.hpp>
#include <planner/report/wrap.hpp>
#include <shardplan/collective/counted.hpp>

namespace shardplan {
namespace {

std::string print_figure(const Figure& figure, Dimension dimension) {
  const double value = figure.value / si_factor(figure.unit, dimension, "figure");
  return dimension == Dimension::share ? fmt::format("{:.3f}", value) : fmt::format("{:.3g} {}", value, figure.unit);
}

/// What a figure that ran into a bound says of another.
std::string at_bound(const FittedFigure& figure) {
  if (figure.at_most) return "held at 1: is the figure that it is a share of too low?";
  return figure.vanishes ? "ran into 0: is a rate or share beside it too low?" : "";
}

std::string figures_table(const CalibratedMachine& machine, const Style& style) {
  TextTable table({{"figure"}, {"before", Align::right}, {"basis"}, {"after", Align::right}, {"", Align::left, true}});
  for (const auto& figure : machine.figures)
    table.add({figure.key, figure.before ? print_figure(*figure.before, figure.dimension) : "-",
               figure.before ? std::string(name_of(figure.before->basis)) : "",
               print_figure(figure.after, figure.dimension),
               at_bound(figure)});
  return table.print(style.width(), 2);
}

/// The measurements of one file.
struct FileErrors {
  std::string file;
  int count = 0;
  double before = 0, after = 0;  ///< sums of absolute errors
  const Residual* worst = nullptr;
};

std::vector<FileErrors> errors_by_file(const CalibratedMachine& machine) {
  std::vector<FileErrors> files;
  for (const auto& residual : machine.residuals) {
    if (files.empty() || files.back().file != residual.measurement.file) files.push_back({residual.measurement.file});
    FileErrors& file = files.back();
    ++file.count;
    file.before += std::abs(residual.error_before());
    file.after += std::abs(residual.error_after());
    if (!file.worst || std::abs(residual.error_after()) > std::abs(file.worst->error_after())) file.worst = &residual;
  }
  return files;
}

std::string worst_words(const Residual& residual) {
  const auto& m = residual.measurement;
  return fmt::format("{:+.0f}%: {} takes {}, predicted {}{}", residual.error_after() * 100, measured_words(m),
                     print_time(m.seconds), print_time(residual.after),
                     m.line > 0 ? fmt::format(" (line {})", m.line) : "");
}

std::string residual_table(const CalibratedMachine& machine, const Style& style) {
  TextTable table({{"file"}, {"measured", Align::right}, {"off by", Align::right}, {"now", Align::right},
                   {"furthest off", Align::left, true}});
  for (const auto& file : errors_by_file(machine))
    table.add({file.file, print_count(file.count), print_share(file.before / file.count),
               print_share(file.after / file.count), worst_words(*file.worst)});
  return table.print(style.width(), 2);
}

/// Where what was fitted is further off than what stood there.
std::string warning_line(const CalibratedMachine& machine, const Style& style) {
  constexpr double worth_saying = 0.01;
  const double before = mean_error(machine.residuals, &Residual::error_before);
  const double after = mean_error(machine.residuals, &Residual::error_after);
  if (after <= before + worth_saying) return "";
  const Measurement& odd = oddest(machine.residuals).measurement;
  const std::string text =
      fmt::format("the fitted figures are further off than those before ({} in the mean, {} before): look at {}, {}{}, "
                  "which fits them least",
                  print_share(after), print_share(before), measured_words(odd), odd.file,
                  odd.line > 0 ? fmt::format(" line {}", odd.line) : "");
  return "\n" + wrap_text(text, style.paint(Ink::yellow, "warning") + "  ", style.width());
}

std::string left_out_line(const CalibratedMachine& machine, const Style& style) {
  if (machine.left_out.empty()) return "";
  std::vector<std::string> products;
  for (const Measurement& measured : machine.left_out)
    products.push_back(fmt::format("{} ({} line {})", measured_words(measured), measured.file, measured.line));
  return "\n" + wrap_text(fmt::format("{} of less than a hundredth of the largest's FLOPs, which measures launches: {}",
                                      products.size() == 1 ? "a product" : "products", fmt::join(products, ", ")),
                          "left out  ", style.width());
}

}  // namespace

std::string calibrate_text(const CalibratedMachine& machine, const Style& style) {
  const std::string device = machine.device.empty() ? "" : " on " + machine.device;
  std::string text = wrap_text(fmt::format("{} fitted to {}{}", counted(std::ssize(machine.figures), "figure"),
                                           counted(std::ssize(machine.residuals), "measurement"), device),
                               style.paint(Ink::bold, machine.hardware) + ": ", style.width()) +
                     "\n";
  text += figures_table(machine, style);
  if (!machine.untold.empty())
    text += wrap_text(fmt::format("{}", fmt::join(machine.untold, ", ")), "  not told by them  ", style.width());
  return text + "\n" + residual_table(machine, style) + left_out_line(machine, style) + warning_line(machine, style);
}

}  // namespace shardplan
