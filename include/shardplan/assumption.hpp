#pragma once
// What a step's time rests on that is not known for sure.
#include <cstdint>
#include <shardplan/machine/hardware.hpp>
#include <shardplan/units.hpp>
#include <string_view>

namespace shardplan {

enum class Assumption : std::uint8_t {
  published_runs,  ///< that it comes out as published runs on the machine did
  overlap,         ///< what hides behind compute
  matmul_efficiency,  ///< figures of the profile
  attention_efficiency,
  hbm_efficiency,
  link_efficiency,
  collective_latency,
  scale_out_efficiency,
  scale_out_latency,
  host_link_bandwidth,
};
std::string_view name_of(Assumption assumption);  ///< "attention_efficiency"

/// The figure that is assumed; null: the assumption is about none, or the profile hasn't it.
const Figure* figure_of(Assumption assumption, const HardwareProfile& hardware);
Figure* figure_of(Assumption assumption, HardwareProfile& hardware);

/// How far a figure may be off by convention: a quarter where it is assumed, a tenth where it is derived. Data sheets and
/// measurements are taken as they are.
double uncertainty_of(Basis basis);

/// The step where one assumption is as good, or as bad, as it may be.
struct AssumedStep {
  Assumption assumption = Assumption::overlap;
  Seconds low, high;
};

}  // namespace shardplan
