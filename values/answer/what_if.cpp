#include <shardplan/error.hpp>
#include <shardplan/answer/what_if.hpp>

namespace shardplan {

std::string_view name_of(WhatIfKind kind) {
  switch (kind) {
    case WhatIfKind::remat:
      return "remat";
    case WhatIfKind::batch:
      return "batch";
    case WhatIfKind::sequence:
      return "sequence";
    case WhatIfKind::axes:
      return "axes";
    case WhatIfKind::chips:
      return "chips";
    case WhatIfKind::state:
      return "state";
    case WhatIfKind::flag:
      return "flag";
    case WhatIfKind::blocks:
      return "blocks";
  }
  throw InternalError("unknown WhatIfKind");
}

}  // namespace shardplan
