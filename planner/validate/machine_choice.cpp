#include <planner/validate/machine_choice.hpp>

namespace shardplan {
namespace {

int positive_count(StrictObject& object, const char* key) {
  const std::int64_t value = object.integer(key);
  if (value < 1) object.fail(key, "at least 1");
  return static_cast<int>(value);
}

}  // namespace

MachineChoice machine_in(StrictObject object) {
  MachineChoice machine;
  machine.hardware = object.text("name");
  machine.chips = positive_count(object, "chips");
  machine.slices = positive_count(object, "slices");
  object.finish();
  return machine;
}

}  // namespace shardplan
