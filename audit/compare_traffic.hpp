#pragma once
// A program's traffic against what was expected of it, by class, mesh axes and phase. A ring of collective-permutes
// that stands for a gather or a reduction counts as one.
#include <audit/program_traffic.hpp>
#include <shardplan/collective/traffic.hpp>
#include <string>
#include <vector>

namespace shardplan {

/// The scopes that MaxText's expert products name (layers/moe.py).
enum class ExpertWeight : std::uint8_t { none, in, out };
ExpertWeight expert_weight_of(const std::string& scope);

/// One collective of either side.
struct TrafficItem {
  TrafficClass traffic = TrafficClass::gather;
  NamedCollective collective;
  std::string tensor;      ///< "wi_0"; where the program names none, its shape: "convert_element_type bf16[4096,32000]"
  ExpertWeight expert_weight = ExpertWeight::none;  ///< of a compiled program; of a plan always none
  bool scattered = false;                           ///< see HloCollective
  bool matches_no_axes = false;
  bool rematerialized = false;  ///< see HloCollective
};

std::vector<TrafficItem> items_of(const ProgramTraffic& program);
std::vector<TrafficItem> items_of(const std::vector<NamedCollective>& plan);

struct TensorTraffic {
  std::string tensor;
  ExpertWeight expert_weight = ExpertWeight::none;
  Traffic traffic;
};

/// One class, axes and phase.
struct TrafficChange {
  TrafficClass traffic = TrafficClass::gather;
  AxisList axes;
  Phase phase = Phase::forward;
  Traffic found, expected;
  Traffic found_all_reduce, expected_all_reduce;  ///< the part of a reduction that leaves every device with everything
  std::vector<TensorTraffic> extra, missing;  ///< collectives without a counterpart of the same bytes, heaviest first
};

/// Ordered by class, axes, phase; those without a difference too.
std::vector<TrafficChange> compare_traffic(const std::vector<TrafficItem>& found,
                                           const std::vector<TrafficItem>& expected);

}  // namespace shardplan
