#pragma once
// What a device moves in a step, summed.
#include <shardplan/evaluation.hpp>
#include <string>
#include <vector>

namespace shardplan {

/// Bytes of a device and step by what the collectives do with them.
struct TrafficBytes {
  Bytes all_to_all;  ///< and ragged
  Bytes gather;
  Bytes reduce;  ///< reduce-scatter and all-reduce
  Bytes permute;
  Bytes total() const { return all_to_all + gather + reduce + permute; }
};
TrafficBytes traffic_of(const Evaluation& evaluation);

/// All collectives of one kind over the same mesh axes.
struct AxisTraffic {
  CollectiveKind kind = CollectiveKind::all_gather;
  std::vector<std::string> axes;  ///< names, in mesh order
  std::int64_t executions = 0;    ///< per step
  Bytes bytes;                    ///< per device and step
  Seconds seconds, exposed;       ///< per step
  Seconds hidden() const;
};

/// Most bytes first; ties by kind and axes.
std::vector<AxisTraffic> traffic_by_axes(const Evaluation& evaluation);

}  // namespace shardplan
