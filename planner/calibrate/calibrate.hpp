#pragma once
// `calibrate`: a machine's figures as measurements on it say.
#include <planner/calibrate/fit_figures.hpp>

namespace shardplan {

/// A measurement beside what plans say before and after.
struct Residual {
  Measurement measurement;
  Seconds before, after;
  double error_before() const { return before / measurement.seconds - 1; }
  double error_after() const { return after / measurement.seconds - 1; }
};

struct CalibratedMachine {
  std::string hardware;
  std::vector<FittedFigure> figures;
  std::vector<std::string> untold;   ///< keys of figures that no measurement tells: as they were
  std::vector<Residual> residuals;   ///< in the order of the files
  Measurements left_out;             ///< products too small to fill the machine
  std::string device;                ///< what was measured, as its files call it; empty: none does
  std::string profile;               ///< the machine's file with the fitted figures, the originals kept in `before`
};

/// 0.34: off by 34% in the mean. Of at least one.
double mean_error(const std::vector<Residual>& residuals, double (Residual::*error)() const);

/// Of which the prediction is off by the largest factor.
const Residual& oddest(const std::vector<Residual>& residuals);

/// A product of fewer than a hundredth of the FLOPs of the largest of its type measures launches: it is left out of the fit.
/// `profile`: the text of the machine's file. What measured steps were of the old figures' predictions (step_error) doesn't
/// go with the new ones, and is left out. Throws InputError as fit_figures does, where the fitted figures are off by far
/// more than those before, where files name different devices, and for logs of GPUs' libraries on a torus.
CalibratedMachine calibrate(const HardwareProfile& hardware, const std::string& profile, const Compiler& compiler,
                      const Measurements& measurements);

}  // namespace shardplan
