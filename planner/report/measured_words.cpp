#include <fmt/format.h>

#include <planner/report/calibrate_report.hpp>
#include <planner/report/humanize.hpp>

namespace shardplan {
namespace {

struct Words {
  std::string operator()(const MeasuredCollective& c) const {
    return fmt::format("{} of {} among {} devices{}", name_of(c.kind), print_traffic(c.bytes), c.devices,
                       c.nodes > 1 ? fmt::format(" of {} nodes", c.nodes) : "");
  }
  std::string operator()(const MeasuredProduct& p) const {
    return fmt::format("product of {:.0f} x {:.0f} x {:.0f} in {}", p.m, p.n, p.k, name_of(p.dtype));
  }
  std::string operator()(const MeasuredFlops& f) const {
    return fmt::format("a step's products, {:.3g} TFLOP", f.flops.value / 1e12);
  }
  std::string operator()(const MeasuredTraffic& t) const {
    return fmt::format("a step's kernels bound by HBM, {}", print_traffic(t.bytes));
  }
};

}  // namespace

std::string measured_words(const Measurement& measurement) { return std::visit(Words{}, measurement.what); }

}  // namespace shardplan
