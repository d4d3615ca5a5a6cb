#pragma once
// What the text of one instruction says by itself.
#include <audit/hlo/read_hlo.hpp>
#include <audit/timeline/memory_access.hpp>
#include <optional>
#include <shardplan/units.hpp>
#include <string_view>

namespace shardplan {

/// "parameter", "tuple": no kernel, no time.
bool does_nothing(std::string_view opcode);

/// Sorts, gathers, scatters, and calls of kernels: no elementwise work.
bool reorders_elements(std::string_view opcode);

Access access_by(std::string_view opcode);

/// XLA:TPU's backend_config; what it can't estimate has 2^63 - 1. Empty: nothing is stated.
std::optional<double> stated_cycles(std::string_view rest);

/// Of "copy-start" and its like the moved array: the largest in the tuple, which has source and destination.
Bytes moved_bytes(std::string_view shape);

/// Of "dynamic-slice-start" and "dynamic-update-slice-start" the slice: ((stack, indices…), slice, …), ((stack, slice,
/// indices…), stack, …).
Bytes moved_slice(std::string_view shape, bool updates);

/// Or part of it, as layouts of XLA:TPU say.
bool is_in_host_memory(std::string_view shape);

bool runs_on_sparse_core(const HloInstruction& instruction);

}  // namespace shardplan
