#include <planner/validate/machine_choice.hpp>

namespace shardplan {

MachineChoice machine_in(StrictObject object) {
  MachineChoice machine;
  machine.hardware = object.text("name");
  machine.chips = object.count("chips", 1);
  machine.slices = object.count("slices", 1);
  object.finish();
  return machine;
}

}  // namespace shardplan
