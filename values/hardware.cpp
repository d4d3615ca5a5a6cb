#include <shardplan/error.hpp>
#include <shardplan/hardware.hpp>

namespace shardplan {

bool ends_at_node(FabricKind fabric) {
  switch (fabric) {
    case FabricKind::torus:
      return false;
    case FabricKind::switched:
    case FabricKind::full_mesh:
      return true;
  }
  throw InternalError("unknown FabricKind");
}

}  // namespace shardplan
