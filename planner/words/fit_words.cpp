#include <planner/words/fit_words.hpp>
#include <shardplan/error.hpp>

namespace shardplan {

std::string_view in_words(Fit fit) {
  switch (fit) {
    case Fit::fits:
      return "fits";
    case Fit::marginal:
      return "may fit or not";
    case Fit::does_not_fit:
      return "does not fit";
  }
  throw InternalError("unknown Fit");
}

std::string_view marginal_verdict(const MemoryUse& memory) {
  const bool fits = memory.high <= memory.capacity, leaves_too_little = memory.low > memory.allowed();
  if (memory.reserved.value == 0) return in_words(Fit::marginal);
  if (fits) return leaves_too_little ? "fits, but leaves less free than asked" : "fits, but may leave less free than asked";
  return leaves_too_little ? "may fit or not, and leaves less free than asked" : "may fit or not";
}

}  // namespace shardplan
