#include <shardplan/error.hpp>
#include <shardplan/program.hpp>

namespace shardplan {

std::string_view name_of(Dim dim) {
  switch (dim) {
    case Dim::batch:
      return "batch";
    case Dim::sequence:
      return "sequence";
    case Dim::embed:
      return "embed";
    case Dim::q_heads:
      return "q_heads";
    case Dim::kv_heads:
      return "kv_heads";
    case Dim::head_dim:
      return "head_dim";
    case Dim::value_dim:
      return "value_dim";
    case Dim::mlp:
      return "mlp";
    case Dim::experts:
      return "experts";
    case Dim::capacity:
      return "capacity";
    case Dim::rows:
      return "rows";
    case Dim::top_k:
      return "top_k";
    case Dim::vocab:
      return "vocab";
    case Dim::q_rank:
      return "q_rank";
    case Dim::kv_rank:
      return "kv_rank";
    case Dim::latent:
      return "latent";
    case Dim::position:
      return "position";
    case Dim::qkv:
      return "qkv";
    case Dim::mlp_parts:
      return "mlp_parts";
    case Dim::taps:
      return "taps";
    case Dim::gate:
      return "gate";
    case Dim::streams:
      return "streams";
    case Dim::groups:
      return "groups";
  }
  throw InternalError("unknown Dim");
}

}  // namespace shardplan
