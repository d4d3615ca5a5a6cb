#pragma once
// The figures of a machine that measurements tell, by least squares of the logarithms of predicted over measured seconds
// (Levenberg-Marquardt, MINPACK's as Eigen has it). A figure is fitted where some measurement hangs on it by at least 5%
// (d log seconds / d log figure) and the measurements can tell it from those fitted before it; in this order:
//   link_efficiency, exchange_efficiency, collective_latency, hop_latency, scale_out_efficiency, scale_out_latency,
//   matmul_efficiency, fp8_matmul_efficiency, hbm_efficiency
// One log of 8 devices, say, tells the sum of the latencies of a collective and its hops: collective_latency takes it.
#include <formats/figure_units.hpp>
#include <planner/calibrate/predict.hpp>

namespace shardplan {

struct FittedFigure {
  std::string key;  ///< as in a profile: "link_efficiency"
  Dimension dimension = Dimension::share;
  std::optional<Figure> before;  ///< empty: the profile had none
  Figure after;                  ///< basis measured, source the files
  bool at_most = false;          ///< a share that would be above 1, held there
  bool vanishes = false;         ///< a time that would be below 0: so small that no prediction hangs on it any more
};

struct FittedMachine {
  HardwareProfile hardware;  ///< with the fitted figures
  std::vector<FittedFigure> figures;
  std::vector<std::string> untold;  ///< keys of figures that no measurement tells
};

/// Throws InputError where no figure is told, and on what predict refuses.
FittedMachine fit_figures(const HardwareProfile& hardware, const Compiler& compiler, const Measurements& measurements);

}  // namespace shardplan
