#pragma once
// What a compiler's schedule lets run beside compute: its file's `overlap` (compilers/*.json), as its flags make it.
#include <cstdint>
#include <shardplan/collective/collective_kind.hpp>
#include <shardplan/units.hpp>

namespace shardplan {

class CollectiveKindSet {
 public:
  bool has(CollectiveKind kind) const { return (bits_ >> static_cast<unsigned>(kind) & 1U) != 0; }
  void set(CollectiveKind kind, bool on) {
    const std::uint32_t bit = std::uint32_t{1} << static_cast<unsigned>(kind);
    bits_ = on ? bits_ | bit : bits_ & ~bit;
  }
  bool empty() const { return bits_ == 0; }

 private:
  std::uint32_t bits_ = 0;
};

/// What of an iteration's copies to and from the host's memory runs beside its kernels.
enum class HostCopies : std::uint8_t {
  all,       ///< as much as its kernels take
  backward,  ///< of what comes back that; of what goes out the layers' inputs, and as much as the longest other takes
  longest,   ///< so much both ways: all are issued together, each as far in front of its end as it takes by itself
};

struct OverlapRules {
  CollectiveKindSet asynchronous;  ///< the others keep the device from computing while they run
  /// Those whose weights are gathered an iteration of the layer scan ahead, or whose gradients are waited for one later.
  CollectiveKindSet pipelined;
  /// Kernels that a weight's gather starts before its use at most, and that its gradient's sum runs beside; 0: any.
  int window = 0;
  /// A gather whose window is narrower than it takes has one as wide as that; sums have their kernels.
  bool window_covers_gather = false;
  HostCopies host_copies = HostCopies::all;
  /// A collective is started when the one before it was waited for (issued_body.hpp); else when the channel is free.
  bool one_in_flight = false;
  /// Results of weights' gathers, and sums, of one kind and axes in a loop's body that become one; no bytes: none do.
  Bytes combines_up_to;
};

}  // namespace shardplan
