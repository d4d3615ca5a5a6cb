#include <formats/read_figure.hpp>
#include <hardware/parts/read_atomic_additions.hpp>

namespace shardplan {

AtomicAdditions read_atomic_additions(StrictObject object) {
  AtomicAdditions additions;
  additions.attempts = read_figure(object, "attempts", Dimension::elements_per_second);
  additions.in_flight = object.number_between("in_flight", 1, 1e12);
  additions.source = object.text("source");
  object.finish();
  return additions;
}

}  // namespace shardplan
