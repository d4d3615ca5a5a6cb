#pragma once
// All-reduces of which each device keeps only its own slice: reduce-scatters in disguise. Every use of the result has
// to be a dynamic-slice of one part in as many as the group has devices, directly or as the first thing a fusion does.
#include <audit/hlo/hlo_instruction.hpp>
#include <cstdint>
#include <map>
#include <unordered_map>
#include <vector>

namespace shardplan {

class SliceTracker {
 public:
  void begin(std::size_t computation);
  /// The next instruction of the computation. `bytes`: of its result, 0 for a tuple; `callee`: of a fusion.
  void see(const HloInstruction& instruction, std::int64_t bytes, std::optional<std::size_t> callee);
  /// From here on, what becomes of an all-reduce's result; `collective` is the caller's name for it.
  void watch(const HloInstruction& instruction, std::size_t collective, std::int64_t bytes, std::int64_t group_size);
  bool is_watching() const { return !watched_.empty(); }
  /// Of the computation's all-reduces, those of which only slices are used.
  std::vector<std::size_t> scattered() const;

 private:
  struct Value {
    std::size_t name_hash, collective;
    std::int64_t bytes, group_size;
  };
  struct Slice {
    std::size_t parameter;
    std::int64_t bytes;
  };
  struct Uses {
    int slices = 0, others = 0;
  };
  void note_slice(const HloInstruction& instruction, std::int64_t bytes);
  void note_use(const HloInstruction& instruction, std::size_t operand, const Value& value, std::int64_t bytes,
                std::optional<std::size_t> callee);

  std::size_t computation_ = 0;
  std::vector<std::size_t> parameters_;  ///< hashes of their names, by their number
  std::vector<Value> watched_;
  std::map<std::size_t, Uses> uses_;                               ///< by collective
  std::unordered_map<std::size_t, std::vector<Slice>> slices_of_;  ///< by computation: parameters that it slices
};

}  // namespace shardplan
