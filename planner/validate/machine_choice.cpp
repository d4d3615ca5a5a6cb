#include <planner/validate/machine_choice.hpp>

namespace shardplan {

MachineChoice machine_in(StrictObject object) {
  MachineChoice machine;
  machine.hardware = object.text("name");
  machine.chips = static_cast<int>(object.integer_at_least("chips", 1));
  machine.slices = static_cast<int>(object.integer_at_least("slices", 1));
  object.finish();
  return machine;
}

}  // namespace shardplan
