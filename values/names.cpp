// The words for enumerators, spelled as MaxText, XLA or INTERFACE.md spell them.
#include <array>
#include <shardplan/collective/collective.hpp>
#include <shardplan/error.hpp>
#include <shardplan/plan.hpp>
#include <shardplan/train_config.hpp>

namespace shardplan {

std::string_view name_of(Phase phase) {
  switch (phase) {
    case Phase::forward:
      return "forward";
    case Phase::rematerialized_forward:
      return "rematerialized_forward";
    case Phase::backward:
      return "backward";
    case Phase::optimizer:
      return "optimizer";
  }
  throw InternalError("unknown Phase");
}

std::span<const CollectiveKind> all_collective_kinds() {
  static constexpr CollectiveKind all[] = {CollectiveKind::all_gather,        CollectiveKind::all_reduce,
                                           CollectiveKind::reduce_scatter,    CollectiveKind::all_to_all,
                                           CollectiveKind::ragged_all_to_all, CollectiveKind::collective_permute};
  return all;
}

std::string_view name_of(CollectiveKind kind) {
  switch (kind) {
    case CollectiveKind::all_gather:
      return "all-gather";
    case CollectiveKind::all_reduce:
      return "all-reduce";
    case CollectiveKind::reduce_scatter:
      return "reduce-scatter";
    case CollectiveKind::all_to_all:
      return "all-to-all";
    case CollectiveKind::ragged_all_to_all:
      return "ragged-all-to-all";
    case CollectiveKind::collective_permute:
      return "collective-permute";
  }
  throw InternalError("unknown CollectiveKind");
}

TrafficClass class_of(CollectiveKind kind) {
  switch (kind) {
    case CollectiveKind::all_gather:
      return TrafficClass::gather;
    case CollectiveKind::all_reduce:
    case CollectiveKind::reduce_scatter:
      return TrafficClass::reduce;
    case CollectiveKind::all_to_all:
    case CollectiveKind::ragged_all_to_all:
      return TrafficClass::exchange;
    case CollectiveKind::collective_permute:
      return TrafficClass::shift;
  }
  throw InternalError("unknown CollectiveKind");
}

std::string_view name_of(TrafficClass traffic) {
  switch (traffic) {
    case TrafficClass::gather:
      return "all-gather";
    case TrafficClass::reduce:
      return "all-reduce";
    case TrafficClass::exchange:
      return "all-to-all";
    case TrafficClass::shift:
      return "collective-permute";
  }
  throw InternalError("unknown TrafficClass");
}

std::string_view noun_of(TrafficClass traffic) {
  return traffic == TrafficClass::reduce ? "reduction" : name_of(traffic);
}

std::string_view name_of(MoePath path) {
  switch (path) {
    case MoePath::none:
      return "none";
    case MoePath::dropping:
      return "dropping";
    case MoePath::ragged:
      return "ragged";
    case MoePath::ring:
      return "ring";
  }
  throw InternalError("unknown MoePath");
}

std::vector<std::string> names_of(const std::vector<MoePath>& paths) {
  std::vector<std::string> names;
  for (const MoePath path : paths) names.emplace_back(name_of(path));
  return names;
}

std::string_view name_of(AttentionKernel kernel) {
  switch (kernel) {
    case AttentionKernel::autoselected:
      return "autoselected";
    case AttentionKernel::dot_product:
      return "dot_product";
    case AttentionKernel::flash:
      return "flash";
    case AttentionKernel::cudnn_flash_te:
      return "cudnn_flash_te";
    case AttentionKernel::cudnn_flash_jax:
      return "cudnn_flash_jax";
  }
  throw InternalError("unknown AttentionKernel");
}

std::string_view name_of(RopeType type) {
  switch (type) {
    case RopeType::standard:
      return "default";
    case RopeType::llama3_1:
      return "llama3.1";
    case RopeType::yarn:
      return "yarn";
  }
  throw InternalError("unknown RopeType");
}

std::string_view name_of(ContextStrategy strategy) {
  switch (strategy) {
    case ContextStrategy::all_gather:
      return "all_gather";
    case ContextStrategy::ring:
      return "ring";
    case ContextStrategy::ulysses:
      return "ulysses";
    case ContextStrategy::usp:
      return "usp";
  }
  throw InternalError("unknown ContextStrategy");
}

std::string_view name_of(CustomMesh custom) {
  switch (custom) {
    case CustomMesh::none:
      return "";
    case CustomMesh::hybrid_ring_64x4:
      return "hybrid_ring_64x4";
    case CustomMesh::hybrid_ring_32x8:
      return "hybrid_ring_32x8";
  }
  throw InternalError("unknown CustomMesh");
}

std::string_view name_of(StepProgram program) {
  switch (program) {
    case StepProgram::train:
      return "train";
    case StepProgram::train_compile:
      return "train_compile";
  }
  throw InternalError("unknown StepProgram");
}

std::string_view name_of(Quantization quantization) {
  static constexpr std::array<std::string_view, static_cast<std::size_t>(last_quantization) + 1> names = {
      "",         "int4",     "int8",      "intmp",     "fp4",
      "fp8",      "fp8_e4m3", "fp8_e5m2",  "fp8_full",  "fp8_gpu",
      "fp8_nanoo", "nanoo_fp8", "te_fp8_delayedscaling", "te_fp8_currentscaling", "te_mxfp8",
      "te_nvfp4", "te_nvfp4_no_rht"};
  return names.at(static_cast<std::size_t>(quantization));
}

std::string_view name_of(OptimizerType optimizer) {
  switch (optimizer) {
    case OptimizerType::adamw:
      return "adamw";
    case OptimizerType::adam_pax:
      return "adam_pax";
    case OptimizerType::sgd:
      return "sgd";
    case OptimizerType::muon:
      return "muon";
  }
  throw InternalError("unknown OptimizerType");
}

std::string_view name_of(DType dtype) {
  switch (dtype) {
    case DType::pred:
      return "pred";
    case DType::s4:
      return "int4";
    case DType::f4:
      return "float4";
    case DType::s8:
      return "int8";
    case DType::f8:
      return "float8";
    case DType::bf16:
      return "bfloat16";
    case DType::f16:
      return "float16";
    case DType::f32:
      return "float32";
    case DType::s32:
      return "int32";
    case DType::u32:
      return "uint32";
  }
  throw InternalError("unknown DType");
}

Bytes recast(Bytes bytes, DType from, DType to) { return Bytes{bytes.value / size_of(from) * bits_of(to) / 8}; }

std::string_view name_of(Objective objective) {
  switch (objective) {
    case Objective::throughput:
      return "throughput";
    case Objective::memory:
      return "memory";
    case Objective::cost:
      return "cost";
  }
  throw InternalError("unknown Objective");
}

std::string_view name_of(Strategy strategy) {
  switch (strategy) {
    case Strategy::data_and_fsdp:
      return "data·fsdp";
    case Strategy::tensor:
      return "tensor";
    case Strategy::context:
      return "context";
    case Strategy::expert:
      return "expert";
    case Strategy::pipeline:
      return "pipeline";
  }
  throw InternalError("unknown Strategy");
}

}  // namespace shardplan
