#include <fmt/format.h>
#include <fmt/ranges.h>

#include <Eigen/Dense>
#include <algorithm>
#include <cmath>
#include <formats/read_figure.hpp>
#include <planner/calibrate/fit_figures.hpp>
#include <set>
#include <shardplan/error.hpp>
#include <unsupported/Eigen/NonLinearOptimization>
#include <unsupported/Eigen/NumericalDiff>
#include <utility>

namespace shardplan {
namespace {

constexpr double least_influence = 0.05;  ///< of a figure on some measurement, and beside the figures before it
constexpr double no_influence = 1e-4;     ///< so little of a figure is none
constexpr double least_share = 0.01;      ///< of a peak or a link, that something which works reaches

/// Whose measurements tell a figure.
enum class Told : std::uint8_t { by_any, inside_nodes, between_nodes, by_kernels };

struct Candidate {
  std::string_view key;
  Dimension dimension;
  Figure* (*in)(HardwareProfile&);  ///< null: the machine has none
  Told told = Told::by_any;
};

template <auto member>
Figure* figure_of(HardwareProfile& hardware) {
  if constexpr (requires { *(hardware.*member); })
    return hardware.*member ? &*(hardware.*member) : nullptr;
  else
    return &(hardware.*member);
}

Figure* fp8_efficiency(HardwareProfile& hardware) {
  if (!hardware.fp8_matmul_efficiency) hardware.fp8_matmul_efficiency = hardware.matmul_efficiency;
  return &*hardware.fp8_matmul_efficiency;
}

/// A torus has none.
Figure* exchange_efficiency(HardwareProfile& hardware) {
  if (hardware.fabric == FabricKind::torus) return nullptr;
  if (!hardware.exchange_efficiency) hardware.exchange_efficiency = hardware.link_efficiency;
  return &*hardware.exchange_efficiency;
}

constexpr Candidate candidates[] = {
    {"link_efficiency", Dimension::share, figure_of<&HardwareProfile::link_efficiency>, Told::inside_nodes},
    {"exchange_efficiency", Dimension::share, exchange_efficiency, Told::inside_nodes},
    {"collective_latency", Dimension::seconds, figure_of<&HardwareProfile::collective_latency>, Told::inside_nodes},
    {"hop_latency", Dimension::seconds, figure_of<&HardwareProfile::hop_latency>, Told::inside_nodes},
    {"scale_out_efficiency", Dimension::share, figure_of<&HardwareProfile::scale_out_efficiency>, Told::between_nodes},
    {"scale_out_latency", Dimension::seconds, figure_of<&HardwareProfile::scale_out_latency>, Told::between_nodes},
    {"matmul_efficiency", Dimension::share, figure_of<&HardwareProfile::matmul_efficiency>},
    {"fp8_matmul_efficiency", Dimension::share, fp8_efficiency},
    {"hbm_efficiency", Dimension::share, figure_of<&HardwareProfile::hbm_efficiency>, Told::by_kernels},
};

/// Whether the profile has none, and asking for it makes one.
bool is_made(const Candidate& candidate, const HardwareProfile& hardware) {
  return (candidate.in == fp8_efficiency && !hardware.fp8_matmul_efficiency) ||
         (candidate.in == exchange_efficiency && !hardware.exchange_efficiency);
}

bool has_figure(const Candidate& candidate, HardwareProfile hardware) {
  return !is_made(candidate, hardware) && candidate.in(hardware) != nullptr;
}

/// Residuals of the measurements, as a function of the logarithms of some figures.
class Residuals {
 public:
  using Scalar = double;
  using InputType = Eigen::VectorXd;
  using ValueType = Eigen::VectorXd;
  using JacobianType = Eigen::MatrixXd;
  enum { InputsAtCompileTime = Eigen::Dynamic, ValuesAtCompileTime = Eigen::Dynamic };

  Residuals(const HardwareProfile& hardware, const Compiler& compiler, const Measurements& measurements,
            std::vector<Candidate> figures)
      : hardware_(hardware), compiler_(compiler), measurements_(measurements), figures_(std::move(figures)) {}

  int inputs() const { return static_cast<int>(figures_.size()); }
  int values() const { return static_cast<int>(measurements_.size()); }

  Eigen::VectorXd begin() const {
    HardwareProfile hardware = hardware_;
    Eigen::VectorXd logs(inputs());
    for (int i = 0; i < inputs(); ++i) logs[i] = std::log(figures_[static_cast<std::size_t>(i)].in(hardware)->value);
    return logs;
  }

  /// Shares are held at 1.
  HardwareProfile with(const Eigen::VectorXd& logs) const {
    HardwareProfile hardware = hardware_;
    for (int i = 0; i < inputs(); ++i) {
      const Candidate& figure = figures_[static_cast<std::size_t>(i)];
      const double value = std::exp(logs[i]);
      figure.in(hardware)->value = figure.dimension == Dimension::share ? std::min(value, 1.0) : value;
    }
    return hardware;
  }

  int operator()(const Eigen::VectorXd& logs, Eigen::VectorXd& residuals) const {
    const HardwareProfile hardware = with(logs);
    for (int i = 0; i < values(); ++i) {
      const Measurement& measurement = measurements_[static_cast<std::size_t>(i)];
      residuals[i] = std::log(predict(measurement, hardware, compiler_) / measurement.seconds);
    }
    return 0;
  }

 private:
  const HardwareProfile& hardware_;
  const Compiler& compiler_;
  const Measurements& measurements_;
  std::vector<Candidate> figures_;
};

/// What of a column the columns before it don't make up.
Eigen::VectorXd remainder(Eigen::VectorXd column, const std::vector<Eigen::VectorXd>& before) {
  for (const auto& direction : before) column -= direction * direction.dot(column);
  return column;
}

/// The slope is taken downwards: a share at 1 has none upwards.
Eigen::VectorXd influence_of(const Candidate& figure, const HardwareProfile& hardware, const Compiler& compiler,
                             const Measurements& measurements) {
  constexpr double step = 1e-4;
  const Residuals residuals(hardware, compiler, measurements, {figure});
  Eigen::VectorXd here(residuals.values()), below(residuals.values());
  Eigen::VectorXd logs = residuals.begin();
  residuals(logs, here);
  logs[0] -= step;
  residuals(logs, below);
  return (here - below) / step;
}

bool crosses_nodes(const Measurement& measurement) {
  const auto* collective = std::get_if<MeasuredCollective>(&measurement.what);
  return collective && collective->nodes > 1;
}

/// Small products are bound by what their kernels cost, whatever HBM reaches.
bool tells(const Measurement& measurement, Told told) {
  if (told == Told::by_kernels) return std::holds_alternative<MeasuredTraffic>(measurement.what);
  if (told == Told::by_any || !std::holds_alternative<MeasuredCollective>(measurement.what)) return true;
  return crosses_nodes(measurement) == (told == Told::between_nodes);
}

/// The most that it is on one of those that tell the figure.
double telling(const Candidate& figure, const Eigen::VectorXd& influence, const Measurements& measurements) {
  double most = 0;
  for (std::size_t i = 0; i < measurements.size(); ++i)
    if (tells(measurements[i], figure.told)) most = std::max(most, std::abs(influence[static_cast<Eigen::Index>(i)]));
  return most;
}

std::vector<Candidate> told_figures(const HardwareProfile& hardware, const Compiler& compiler,
                                    const Measurements& measurements) {
  std::vector<Candidate> told;
  std::vector<Eigen::VectorXd> directions;
  for (const Candidate& figure : candidates) {
    if (!has_figure(figure, hardware)) continue;
    const Eigen::VectorXd influence = influence_of(figure, hardware, compiler, measurements);
    if (telling(figure, influence, measurements) < least_influence) continue;
    const Eigen::VectorXd rest = remainder(influence, directions);
    if (rest.norm() < least_influence * influence.norm()) continue;
    told.push_back(figure);
    directions.push_back(rest.normalized());
  }
  return told;
}

std::string sources_of(const Measurements& measurements) {
  std::set<std::string> files;
  for (const auto& measurement : measurements) files.insert(measurement.file);
  return fmt::format("fitted by shardplan calibrate to {} measurements in {}", measurements.size(),
                     fmt::join(files, ", "));
}

bool is_fp8(const Measurement& measurement) {
  const auto* product = std::get_if<MeasuredProduct>(&measurement.what);
  return product && product->dtype == DType::f8;
}

bool is_exchange_in_a_node(const Measurement& measurement) {
  const auto* collective = std::get_if<MeasuredCollective>(&measurement.what);
  return collective && collective->kind == CollectiveKind::all_to_all && collective->nodes == 1;
}

HardwareProfile least_squares(const HardwareProfile& hardware, const Compiler& compiler,
                              const Measurements& measurements, const std::vector<Candidate>& told) {
  const Residuals residuals(hardware, compiler, measurements, told);
  Eigen::NumericalDiff<Residuals, Eigen::Central> differentiated(residuals);
  Eigen::LevenbergMarquardt<Eigen::NumericalDiff<Residuals, Eigen::Central>> search(differentiated);
  Eigen::VectorXd logs = residuals.begin();
  search.minimize(logs);
  return residuals.with(logs);
}

bool is_among(const Candidate& figure, const std::vector<Candidate>& figures) {
  return std::any_of(figures.begin(), figures.end(), [&](const Candidate& other) { return other.key == figure.key; });
}

struct StagedFit {
  HardwareProfile hardware;
  std::vector<Candidate> told;
};

/// These figures fitted to the measurements, which tell them.
void add_stage(StagedFit& fit, const Compiler& compiler, const Measurements& measurements,
               const std::vector<Candidate>& told) {
  if (told.empty()) return;
  fit.hardware = least_squares(fit.hardware, compiler, measurements, told);
  fit.told.insert(fit.told.end(), told.begin(), told.end());
}

/// What is measured inside nodes tells its figures alone, and collectives between nodes the rest with those held: of one fit
/// to all, figures of a node would pay for what levels that take turns can't say of collectives which pipeline them.
StagedFit fit_in_turn(const HardwareProfile& begin, const Compiler& compiler, const Measurements& measurements) {
  Measurements inside;
  for (const Measurement& measured : measurements)
    if (!crosses_nodes(measured)) inside.push_back(measured);
  StagedFit fit{begin, {}};
  if (!inside.empty()) add_stage(fit, compiler, inside, told_figures(begin, compiler, inside));
  std::vector<Candidate> rest = told_figures(fit.hardware, compiler, measurements);
  if (!inside.empty()) std::erase_if(rest, [](const Candidate& figure) { return figure.told != Told::between_nodes; });
  add_stage(fit, compiler, measurements, rest);
  return fit;
}

FittedFigure fitted(const Candidate& candidate, const HardwareProfile& before, HardwareProfile& after,
                    const std::string& source) {
  FittedFigure figure{std::string(candidate.key), candidate.dimension, std::nullopt, {}, false, false};
  HardwareProfile original = before;
  if (!is_made(candidate, before)) figure.before = *candidate.in(original);
  Figure& now = *candidate.in(after);
  now.source = source;
  now.basis = Basis::measured;
  figure.after = now;
  figure.at_most = candidate.dimension == Dimension::share && now.value >= 1;
  if (candidate.dimension == Dimension::share && now.value < least_share)
    throw InputError(fmt::format("{} would be {:.2g}: the measurements are too slow by orders of magnitude; are their units "
                                 "those that are expected?", candidate.key, now.value));
  if (const auto bound = bound_passed(now.value, candidate.dimension))
    throw InputError(fmt::format("{} would be {:.2g} s ({}): a measurement is too slow by orders of magnitude",
                                 candidate.key, now.value, *bound));
  return figure;
}

}  // namespace

FittedMachine fit_figures(const HardwareProfile& hardware, const Compiler& compiler, const Measurements& measurements) {
  HardwareProfile begin = hardware;
  if (std::any_of(measurements.begin(), measurements.end(), is_fp8)) fp8_efficiency(begin);
  if (std::any_of(measurements.begin(), measurements.end(), is_exchange_in_a_node)) exchange_efficiency(begin);
  StagedFit best = fit_in_turn(begin, compiler, measurements);
  if (best.told.empty())
    throw InputError(fmt::format("the measurements tell no figure of {}{}", hardware.name,
                                 hardware.product_tables.empty()
                                     ? ""
                                     : ": its matrix products are priced by tables (matmul_shares), not by a figure"));
  FittedMachine fit{std::move(best.hardware), {}, {}};
  const auto vanishes = [&](const Candidate& figure) {
    const Eigen::VectorXd influence = influence_of(figure, fit.hardware, compiler, measurements);
    return figure.dimension == Dimension::seconds && telling(figure, influence, measurements) < no_influence;
  };
  const std::string source = sources_of(measurements);
  for (const Candidate& candidate : candidates) {
    if (!is_among(candidate, best.told)) {
      if (has_figure(candidate, hardware)) fit.untold.emplace_back(candidate.key);
      continue;
    }
    fit.figures.push_back(fitted(candidate, hardware, fit.hardware, source));
    fit.figures.back().vanishes = vanishes(candidate);
  }
  return fit;
}

}  // namespace shardplan
