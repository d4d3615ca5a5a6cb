#include <cost_models/partition/partitioned_block.hpp>

namespace shardplan {

std::string describe(const BufferName& name, const Block& block) {
  std::string text = name.tensor >= 0 ? block.tensors[name.tensor].name : "";
  text += name.what;
  if (name.operation >= 0) text += block.operations[name.operation].name;
  return text;
}

}  // namespace shardplan
