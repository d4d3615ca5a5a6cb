#include <algorithm>
#include <audit/hlo/hlo_shape.hpp>
#include <audit/timeline/kernels/product_dims.hpp>
#include <charconv>

namespace shardplan {
namespace {

using Dims = std::vector<std::size_t>;

/// The numbers in "{1,0}" or `["1","0"]`.
Dims numbers_in(std::string_view text) {
  Dims numbers;
  for (std::size_t at = text.find_first_of("0123456789"); at != text.npos;
       at = text.find_first_of("0123456789", at)) {
    std::size_t number = 0;
    const auto end = std::from_chars(text.data() + at, text.data() + text.size(), number).ptr;
    numbers.push_back(number);
    at = static_cast<std::size_t>(end - text.data());
  }
  return numbers;
}

/// The list behind "key": in a backend_config, or of attribute key=.
std::optional<Dims> list_of(const HloInstruction& instruction, std::string_view attribute, std::string_view key) {
  if (const auto list = attribute_of(instruction, attribute)) return numbers_in(*list);
  const auto at = instruction.rest.find(key);
  if (at == std::string_view::npos) return std::nullopt;
  const auto open = instruction.rest.find('[', at), close = instruction.rest.find(']', at);
  if (close == std::string_view::npos || open > close) return std::nullopt;
  return numbers_in(instruction.rest.substr(open, close - open));
}

bool within(const Dims& chosen, const ArrayShape& array) {
  return std::all_of(chosen.begin(), chosen.end(), [&](std::size_t dim) { return dim < array.dims.size(); });
}

double product_of(const Dims& chosen, const ArrayShape& array) {
  double product = 1;
  for (const auto dim : chosen) product *= static_cast<double>(array.dims[dim]);
  return product;
}

std::optional<ProductDims> dot_dims(const HloInstruction& instruction, const ArrayShape& left,
                                    const ArrayShape& right) {
  const auto contracted = list_of(instruction, "lhs_contracting_dims", "\"lhs_contracting_dimensions\"");
  const auto contracted_right = list_of(instruction, "rhs_contracting_dims", "\"rhs_contracting_dimensions\"");
  if (!contracted || !contracted_right) return std::nullopt;
  const Dims batch = list_of(instruction, "lhs_batch_dims", "\"lhs_batch_dimensions\"").value_or(Dims{});
  if (!within(*contracted, left) || !within(*contracted_right, right) || !within(batch, left)) return std::nullopt;
  ProductDims dims;
  dims.k = product_of(*contracted, left);
  dims.groups = product_of(batch, left);
  if (dims.k == 0 || dims.groups == 0 || product_of(*contracted_right, right) != dims.k) return std::nullopt;
  dims.m = left.elements() / dims.k / dims.groups;
  dims.n = right.elements() / dims.k / dims.groups;
  return dims;
}

/// XLA:TPU writes products as convolutions: "0bf_io0->0bf". A spatial dim (a digit) of the same size on all sides is a
/// batch dim; one that an operand has once is a free dim of the other; one that the result has once is contracted.
struct Labels {
  std::string_view left, right, result;
};

std::optional<Labels> labels_of(const HloInstruction& instruction) {
  const auto text = attribute_of(instruction, "dim_labels");
  const auto bar = text ? text->find('_') : std::string_view::npos;
  const auto arrow = text ? text->find("->") : std::string_view::npos;
  if (bar == std::string_view::npos || arrow == std::string_view::npos || arrow < bar) return std::nullopt;
  return Labels{text->substr(0, bar), text->substr(bar + 1, arrow - bar - 1), text->substr(arrow + 2)};
}

double size_of(char label, std::string_view labels, const ArrayShape& array) {
  const auto at = labels.find(label);
  return at == labels.npos || at >= array.dims.size() ? 0 : static_cast<double>(array.dims[at]);
}

void add_spatial(ProductDims& dims, double left, double right, double result) {
  if (left == right && right == result)
    dims.groups *= left;
  else if (result < std::max(left, right))
    dims.k *= std::max(left, right);
  else
    (left > right ? dims.m : dims.n) *= result;
}

std::optional<ProductDims> convolution_dims(const HloInstruction& instruction, const ArrayShape& left,
                                            const ArrayShape& right, const ArrayShape& result) {
  const auto labels = labels_of(instruction);
  if (!labels) return std::nullopt;
  ProductDims dims;
  dims.m = size_of('b', labels->left, left);
  dims.n = size_of('o', labels->right, right);
  dims.k = size_of('i', labels->right, right);
  for (const char label : labels->left)
    if (label >= '0' && label <= '9')
      add_spatial(dims, size_of(label, labels->left, left), size_of(label, labels->right, right),
                  size_of(label, labels->result, result));
  return dims.m * dims.n * dims.k * dims.groups > 0 ? std::optional(dims) : std::nullopt;
}

}  // namespace

ArrayShape array_shape(std::string_view shape) {
  const auto elements = elements_of_shape(shape);
  if (elements.empty()) return {};
  const auto first = elements.front();
  ArrayShape array{dims_of_shape(first).value_or(std::vector<std::int64_t>{}), std::nullopt};
  if (first.starts_with("f8e") || first.starts_with("f4e")) array.narrow = DType::f8;
  if (first.starts_with("s8[") || first.starts_with("s4[")) array.narrow = DType::s8;
  return array;
}

double ArrayShape::elements() const {
  double product = 1;
  for (const auto dim : dims) product *= static_cast<double>(dim);
  return product;
}

std::optional<ProductDims> product_dims(const HloInstruction& instruction, const ArrayShape& left,
                                        const ArrayShape& right, const ArrayShape& result) {
  auto dims = instruction.opcode == "convolution" ? convolution_dims(instruction, left, right, result)
                                                  : dot_dims(instruction, left, right);
  if (dims && left.narrow && right.narrow) dims->narrow = left.narrow;
  return dims;
}

}  // namespace shardplan
