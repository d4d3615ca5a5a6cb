#pragma once
// The shape of a matrix product from the text of its instruction.
#include <audit/hlo/hlo_instruction.hpp>
#include <audit/timeline/hlo_schedule.hpp>
#include <optional>
#include <vector>

namespace shardplan {

/// An array that an instruction reads or makes; of a tuple the first in it.
struct ArrayShape {
  std::vector<std::int64_t> dims;
  std::optional<DType> narrow;  ///< the type of elements of 8 bits and less
  double elements() const;
};
ArrayShape array_shape(std::string_view shape);

/// Of `dot` from its *_contracting_dims and *_batch_dims, of `convolution` from its dim_labels, of a cuBLAS call from the
/// dot_dimension_numbers of its backend_config. Empty: the text has none of them, or they don't fit the operands.
std::optional<ProductDims> product_dims(const HloInstruction& instruction, const ArrayShape& left,
                                        const ArrayShape& right, const ArrayShape& result);

}  // namespace shardplan
