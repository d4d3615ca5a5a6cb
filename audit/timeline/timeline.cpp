#include <audit/timeline/timeline.hpp>
#include <shardplan/error.hpp>

namespace shardplan {

Seconds& KernelSeconds::of(KernelKind kind) {
  switch (kind) {
    case KernelKind::product:
      return product;
    case KernelKind::grouped_product:
      return grouped_product;
    case KernelKind::attention:
      return attention;
    case KernelKind::vector:
      return vector;
  }
  throw InternalError("unknown KernelKind");
}

}  // namespace shardplan
