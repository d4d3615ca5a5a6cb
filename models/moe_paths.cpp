#include <fmt/format.h>

#include <models/moe_paths.hpp>

namespace shardplan {

double capacity_on(MoePath path, double factor, bool is_asked_for) {
  return path == MoePath::dropping && factor <= 0 && !is_asked_for ? usual_capacity_factor : factor;
}

// MaxText configs/types.py, the checks of num_experts > 1 and of the llama4 decoder.
std::optional<std::string> path_refusal(const Model& model, MoePath path, double capacity_factor) {
  if (!model.has_experts()) return std::nullopt;
  const bool dropping = path == MoePath::dropping;
  const auto& block = model.decoder_block;
  if (model.use_batch_split_schedule && path != usual_path(model))
    return fmt::format("the layers of {} gather their tokens and scatter their sums, whatever path is asked for",
                     model.name);
  if (block.capacity == CapacityChoice::never && capacity_factor >= 0)
    return fmt::format("capacity_factor={}: MaxText's {} decoder takes only -1", capacity_factor, block.name);
  if (block.capacity == CapacityChoice::with_sparse_matmul && dropping && capacity_factor != -1)
    return fmt::format(
        "capacity_factor={}: with sparse_matmul=false MaxText's {} decoder takes only -1, "
        "which computes every expert for every token and is not modelled; set "
        "sparse_matmul=true",
        capacity_factor, block.name);
  if (dropping && block.capacity != CapacityChoice::free)
    return fmt::format("sparse_matmul=false: MaxText's {} decoder then computes every expert for every token, which "
                       "shardplan does not model; set sparse_matmul=true", block.name);
  if (dropping && capacity_factor <= 0)
    return fmt::format(
        "sparse_matmul=false with capacity_factor={} computes every expert for every token, "
        "which shardplan does not model; set capacity_factor=1.25, say, or sparse_matmul=true",
        capacity_factor);
  return std::nullopt;
}

}  // namespace shardplan
