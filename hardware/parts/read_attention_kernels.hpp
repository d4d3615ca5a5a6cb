#pragma once
// `attention_kernels` of a profile: what attention kernels reach of peak_bf16, by the width of a head.
#include <formats/strict_json.hpp>
#include <shardplan/machine/hardware.hpp>

namespace shardplan {

/// Throws InputError where heads aren't ascending or a share is none.
AttentionKernels read_attention_kernels(StrictObject object);

}  // namespace shardplan
