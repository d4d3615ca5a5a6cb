#include <algorithm>
#include <cost_models/memory/held_buffers.hpp>
#include <cost_models/memory/saved_value.hpp>

namespace shardplan {
namespace {

class HeldBuffers {
 public:
  /// Buffers of one name and size are one entry.
  void add(const HeldBuffer& buffer) {
    if (buffer.total().value == 0) return;
    const auto alike = std::find_if(all_.begin(), all_.end(), [&](const HeldBuffer& other) {
      return other.as == buffer.as && other.bytes == buffer.bytes && other.block == buffer.block &&
             other.name == buffer.name;
    });
    if (alike == all_.end())
      all_.push_back(buffer);
    else
      alike->count += buffer.count;
  }

  std::vector<HeldBuffer> largest_first() {
    std::stable_sort(all_.begin(), all_.end(),
                     [](const HeldBuffer& a, const HeldBuffer& b) { return a.total() > b.total(); });
    return std::move(all_);
  }

 private:
  std::vector<HeldBuffer> all_;
};

const char* beside_values(const Block& block) {
  if (block.beside_scan) return "values of a layer beside the scan";
  return block.in_pipeline ? "microbatches on their way through the stages" : "gathered weights";
}

/// What of a block waits for its backward pass.
void add_waiting(HeldBuffers& held, const PartitionedBlock& block, const BoundProgram& program, const Compiler& compiler) {
  const Block& b = *block.block;
  Bytes rest = saved_activations(block, program);
  for (const SavedValue& value : saved_values(block, program)) {
    held.add({HeldAs::activation, b.name, b.tensors[value.tensor].name, value.bytes, value.times});
    rest -= value.bytes * value.times;
  }
  held.add({HeldAs::activation, b.name, beside_values(b), rest, 1});
  held.add({HeldAs::activation, b.name, "mask of one-hot ids", kept_lookup_mask(block, program, compiler), 1});
}

}  // namespace

std::vector<HeldBuffer> held_at(const Moment& moment, const std::vector<PartitionedBlock>& blocks,
                                const BoundProgram& program, const TrainConfig& config, const Compiler& compiler) {
  if (!moment.loop) return {};
  const auto loops = loops_of(blocks);
  HeldBuffers held;
  for (std::size_t i = 0; i <= *moment.loop; ++i)
    for (const PartitionedBlock* block : loops[i]) add_waiting(held, *block, program, compiler);
  for (const auto& [block, name, bytes, layers] :
       held_in_iteration(loops[*moment.loop], program, config, compiler, moment.weight_gradients))
    held.add({HeldAs::temporary, block->block->name, describe(name, *block->block), bytes, layers});
  held.add({HeldAs::temporary, "all layers", "weights gathered or copied in front of the loops", moment.copies, 1});
  return held.largest_first();
}

}  // namespace shardplan
