#pragma once
// Shapes as HLO text writes them: "bf16[8,4096]{1,0:T(8,128)(2,1)}", tuples "(f32[4]{0}, /*index=1*/u32[])".
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace shardplan {

/// Bytes of a shape, of all elements for a tuple; tokens take none. Empty: not a shape.
std::optional<std::int64_t> bytes_of_shape(std::string_view shape);

/// The same of an array as it lies in memory: its minor dims in whole tiles, "{0,2,1:T(8,128)}" of 360 x 4 x 8 as 384 x 4 x
/// 8. Without tiles, or in tiles of another form, bytes_of_shape.
std::optional<std::int64_t> bytes_in_tiles(std::string_view shape);

/// The sizes of an array's dims, none for a scalar; of a dynamic dim the largest. Empty: not an array.
std::optional<std::vector<std::int64_t>> dims_of_shape(std::string_view shape);

/// The elements of a tuple, as written; the shape itself when it is not a tuple.
std::vector<std::string_view> elements_of_shape(std::string_view shape);

/// "bf16[8,4096]", "(f32[4], u32[])": without layout and comments, at most three elements.
std::string short_shape(std::string_view shape);

/// `text` cut at the commas that stand outside of brackets, braces, parentheses and quotes; comments are dropped.
std::vector<std::string_view> split_list(std::string_view text);

}  // namespace shardplan
