#include <hardware/network/torus_assignment.hpp>
#include <shardplan/error.hpp>
#include <tuple>

namespace shardplan {
namespace {

constexpr std::size_t dims = std::tuple_size_v<DimSizes>;
constexpr DimSizes ones{1, 1, 1, 1};

/// Subsets of the four dims as bit masks (bit 0 is x), in the order in which JAX tries them: more dims first, then
/// lexicographically.
constexpr std::array<unsigned, 15> subsets{0b1111, 0b0111, 0b1011, 0b1101, 0b1110, 0b0011, 0b0101, 0b1001,
                                           0b0110, 0b1010, 0b1100, 0b0001, 0b0010, 0b0100, 0b1000};

/// The dims of `subset` out of `from`, 1 elsewhere.
DimSizes part(const DimSizes& from, unsigned subset) {
  DimSizes sizes = ones;
  for (std::size_t dim = 0; dim < dims; ++dim)
    if (subset >> dim & 1U) sizes[dim] = from[dim];
  return sizes;
}

long product(const DimSizes& sizes) { return 1L * sizes[0] * sizes[1] * sizes[2] * sizes[3]; }

/// A subset may hold dims of size 1 (absent or taken): JAX skips taken ones, but neither changes the part or the
/// order among subsets with the same dims above 1.
std::optional<DimSizes> whole_dims_of(const DimSizes& left, int size) {
  std::optional<DimSizes> best;
  int best_count = 0;
  for (const unsigned subset : subsets) {
    const DimSizes candidate = part(left, subset);
    if (product(candidate) != size) continue;
    int count = 0;
    for (const int extent : candidate) count += extent > 1 ? 1 : 0;
    if (count > best_count) best = candidate, best_count = count;
  }
  return best;
}

/// What JAX prefers, as a tuple to be maximized: the part that covers whole dims, the number of whole dims, the part
/// on dims that later axes have already taken from (its comment says the opposite; this is what it computes), then the
/// sizes themselves.
auto preference(const DimSizes& candidate, const DimSizes& torus, const DimSizes& taken) {
  long whole_size = 1, on_taken_dims = 1;
  int whole_count = 0;
  for (std::size_t dim = 0; dim < dims; ++dim) {
    const bool whole = candidate[dim] == torus[dim];
    if (whole) whole_size *= candidate[dim];
    if (whole && candidate[dim] > 1) ++whole_count;
    if (taken[dim] > 1) on_taken_dims *= candidate[dim];
  }
  return std::tuple(whole_size, whole_count, on_taken_dims, candidate);
}

/// All ways to write `size` as a product of divisors of the dims of `left`.
std::vector<DimSizes> factorings(int size, const DimSizes& left) {
  std::vector<DimSizes> found;
  for (int x = 1; x <= left[0]; ++x) {
    if (left[0] % x != 0 || size % x != 0) continue;
    for (int y = 1; y <= left[1]; ++y) {
      if (left[1] % y != 0 || size / x % y != 0) continue;
      for (int z = 1; z <= left[2]; ++z) {
        if (left[2] % z != 0 || size / x / y % z != 0) continue;
        const int core = size / x / y / z;
        if (left[3] % core == 0) found.push_back({x, y, z, core});
      }
    }
  }
  return found;
}

DimSizes quotient(const DimSizes& torus, const DimSizes& taken) {
  return {torus[0] / taken[0], torus[1] / taken[1], torus[2] / taken[2], torus[3] / taken[3]};
}

DimSizes best_factoring(int size, const DimSizes& torus, const DimSizes& taken) {
  const auto candidates = factorings(size, quotient(torus, taken));
  if (candidates.empty()) throw InternalError("a mesh axis has no factoring over the torus");
  DimSizes best = candidates.front();
  for (const DimSizes& candidate : candidates)
    if (preference(candidate, torus, taken) > preference(best, torus, taken)) best = candidate;
  return best;
}

}  // namespace

std::variant<TorusAssignment, UnplacedAxis> assign_whole_dims(const DimSizes& torus, const std::vector<int>& sizes) {
  TorusAssignment assignment(sizes.size(), ones);
  DimSizes left = torus;
  for (std::size_t axis = sizes.size(); axis-- > 0;) {
    if (sizes[axis] == 1) continue;
    const auto taken = whole_dims_of(left, sizes[axis]);
    if (!taken) return UnplacedAxis{axis, left};
    assignment[axis] = *taken;
    left = quotient(left, *taken);
  }
  return assignment;
}

TorusAssignment assign_splitting_dims(const DimSizes& torus, const std::vector<int>& sizes) {
  TorusAssignment assignment(sizes.size(), ones);
  DimSizes taken = ones;
  for (std::size_t axis = sizes.size(); axis-- > 0;) {
    if (sizes[axis] == 1) continue;
    assignment[axis] = best_factoring(sizes[axis], torus, taken);
    for (std::size_t dim = 0; dim < dims; ++dim) taken[dim] *= assignment[axis][dim];
  }
  return assignment;
}

}  // namespace shardplan
