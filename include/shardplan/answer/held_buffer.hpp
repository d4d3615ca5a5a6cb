#pragma once
// What a device holds at the peak of its memory.
#include <cstdint>
#include <shardplan/units.hpp>
#include <string>
#include <string_view>

namespace shardplan {

enum class HeldAs : std::uint8_t {
  activation,  ///< waits from the forward pass for the backward pass
  temporary,   ///< of the layer that runs, and of those that share its iteration
};
std::string_view name_of(HeldAs as);  ///< "temporary"

/// Buffers that are alike, of one device.
struct HeldBuffer {
  HeldAs as;
  std::string block;  ///< "moe_layers"
  std::string name;   ///< "query gradient", for people
  Bytes bytes;        ///< of one
  std::int64_t count = 1;
  Bytes total() const { return bytes * count; }
};

}  // namespace shardplan
