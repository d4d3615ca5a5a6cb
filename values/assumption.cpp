#include <shardplan/assumption.hpp>
#include <shardplan/error.hpp>

namespace shardplan {

std::string_view name_of(Assumption assumption) {
  switch (assumption) {
    case Assumption::published_runs:
      return "published_runs";
    case Assumption::overlap:
      return "overlap";
    case Assumption::matmul_efficiency:
      return "matmul_efficiency";
    case Assumption::attention_efficiency:
      return "attention_efficiency";
    case Assumption::hbm_efficiency:
      return "hbm_efficiency";
    case Assumption::link_efficiency:
      return "link_efficiency";
    case Assumption::collective_latency:
      return "collective_latency";
    case Assumption::scale_out_efficiency:
      return "scale_out_efficiency";
    case Assumption::scale_out_latency:
      return "scale_out_latency";
    case Assumption::host_link_bandwidth:
      return "host_link_bandwidth";
  }
  throw InternalError("unknown Assumption");
}

namespace {

template <class Profile>
auto figure_in(Profile& hardware, Assumption assumption) -> decltype(&hardware.hbm_efficiency) {
  switch (assumption) {
    case Assumption::published_runs:
    case Assumption::overlap:
      return nullptr;
    case Assumption::matmul_efficiency:
      return &hardware.matmul_efficiency;
    case Assumption::attention_efficiency:
      return &hardware.attention_efficiency;
    case Assumption::hbm_efficiency:
      return &hardware.hbm_efficiency;
    case Assumption::link_efficiency:
      return &hardware.link_efficiency;
    case Assumption::collective_latency:
      return hardware.collective_latency ? &*hardware.collective_latency : nullptr;
    case Assumption::scale_out_efficiency:
      return &hardware.scale_out_efficiency;
    case Assumption::scale_out_latency:
      return &hardware.scale_out_latency;
    case Assumption::host_link_bandwidth:
      return hardware.host_link_bandwidth ? &*hardware.host_link_bandwidth : nullptr;
  }
  throw InternalError("unknown Assumption");
}

}  // namespace

const Figure* figure_of(Assumption assumption, const HardwareProfile& hardware) { return figure_in(hardware, assumption); }
Figure* figure_of(Assumption assumption, HardwareProfile& hardware) { return figure_in(hardware, assumption); }

double uncertainty_of(Basis basis) {
  switch (basis) {
    case Basis::datasheet:
    case Basis::measured:
      return 0;
    case Basis::derived:
      return 0.1;
    case Basis::assumed:
      return 0.25;
  }
  throw InternalError("unknown Basis");
}

}  // namespace shardplan
