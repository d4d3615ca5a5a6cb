#pragma once
// One thing of a run changed, everything else as it is: what the run becomes.
#include <cstdint>
#include <memory>
#include <shardplan/configuration.hpp>
#include <shardplan/evaluation.hpp>
#include <string>
#include <string_view>

namespace shardplan {

/// What is changed.
enum class WhatIfKind : std::uint8_t {
  remat,     ///< what is kept for the backward pass
  batch,     ///< sequences of a device and pass, and passes
  sequence,  ///< its length
  axes,      ///< a factor of one mesh axis goes to another
  chips,     ///< twice or half of them
  state,     ///< how wide weights and moments are, and where they live
  flag,      ///< of the compiler
  blocks,    ///< of the attention kernels
};
inline constexpr WhatIfKind last_what_if_kind = WhatIfKind::blocks;
std::string_view name_of(WhatIfKind kind);  ///< "remat"

struct WhatIf {
  WhatIfKind kind = WhatIfKind::remat;
  std::string change;  ///< "half the batch: 4 sequences a device"
  std::shared_ptr<const Configuration> configuration;
  RunCost run;        ///< it may lack memory, nothing else
  double faster = 0;  ///< share by which the job makes more tokens a second: 0.12; below 0 fewer
};

}  // namespace shardplan
