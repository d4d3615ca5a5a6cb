#include <shardplan/error.hpp>
#include <shardplan/evaluation.hpp>

namespace shardplan {

std::string_view name_of(Fit fit) {
  switch (fit) {
    case Fit::fits:
      return "fits";
    case Fit::marginal:
      return "marginal";
    case Fit::does_not_fit:
      return "does_not_fit";
  }
  throw InternalError("unknown Fit");
}

Fit MemoryUse::fit() const {
  if (low > capacity) return Fit::does_not_fit;
  return high <= allowed() ? Fit::fits : Fit::marginal;
}

}  // namespace shardplan
