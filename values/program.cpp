#include <algorithm>
#include <shardplan/program.hpp>

namespace shardplan {

std::int64_t elements_of(const Dims& dims) {
  std::int64_t elements = 1;
  for (const TensorDim& dim : dims) elements *= dim.size;
  return elements;
}

std::int64_t elements_of(const Tensor& tensor) { return elements_of(tensor.dims); }

bool is_query_projection(const Block& block, const Operation& operation) {
  const auto first = std::find_if(block.operations.begin(), block.operations.end(), [](const Operation& any) {
    return any.role == OperationRole::qkv_projection;
  });
  return first != block.operations.end() && &*first == &operation;
}

}  // namespace shardplan
