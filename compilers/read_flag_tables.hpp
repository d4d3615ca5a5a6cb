#pragma once
// The flags of a compiler's file: those that it knows, those of other machines, those that recipes offer and publish.
#include <compilers/compiler_flags.hpp>
#include <formats/strict_json.hpp>
#include <string>
#include <vector>

namespace shardplan {

/// ["all-gather", …]. This and the others throw InputError, with the place, on what the file shouldn't say.
std::vector<CollectiveKind> read_kinds(StrictObject& object, const std::string& key);
/// Of `object`, its "host_copies".
HostCopies read_host_copies(StrictObject& object);

/// {"xla_tpu_…": {"effect": "modelled", "does": "…", "switches": {…}, "source": "…"}, …}
FlagTable read_flags(const nlohmann::json& value, const std::string& where);

/// {"prefixes": ["xla_gpu_"], "source": "…"}
std::vector<std::string> read_foreign(StrictObject object);

/// {"xla_tpu_scoped_vmem_limit_kib": {"value": "98304", "source": "…"}, …}
std::vector<OfferedFlag> read_offered(const nlohmann::json& value, const std::string& where, const FlagTable& table);

/// [{"flags": ["--xla_gpu_enable_triton_gemm=false", …], "source": "…"}, …]
std::vector<PublishedFlags> read_published(StrictObject& object, const std::string& key, const FlagTable& table);

/// [{"layers": "dense", "flags": ["--xla_tpu_scoped_vmem_limit_kib=98304", …], "source": "…"}, …]
std::vector<AssumedFlags> read_assumed(StrictObject& object, const std::string& key, const FlagTable& table);

}  // namespace shardplan
