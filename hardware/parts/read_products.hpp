#pragma once
// `matmul_shares` of a profile: tables of what share of peak products reach, by shape.
#include <formats/strict_json.hpp>
#include <shardplan/machine/hardware.hpp>

namespace shardplan {

/// [{"scoped_vmem_limit_kib": 98304, "sizes": [512, 2048], "shares": [8 numbers], "source": "…"}, …]; the limit is left
/// out where it is the compiler's default. Throws InputError.
std::vector<ProductTable> read_product_tables(StrictObject& profile);

}  // namespace shardplan
