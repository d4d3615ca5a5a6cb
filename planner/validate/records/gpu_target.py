"""A described GPU for XLA:GPU to compile for where there is none: partitioning, all passes, scheduling and buffer
assignment are the real ones, autotuning is missing.

What a deviceless compile doesn't give: workspaces of cuBLAS and cuDNN, buffers of NCCL.
"""
import os

GPUS_PER_NODE = 8
MEMORY = 84_942_979_072  # bytes
DEFAULT_FRACTION = 0.80  # of the memory, that XLA:GPU plans with where it has no allocator to ask
AUTOTUNING_OFF = "--xla_gpu_autotune_level=0 --xla_gpu_shard_autotuning=false"

# XLA's GpuTargetConfigProto. Figures: openxla/xla, xla/backends/gpu/target_config/specs/h100_sxm.txtpb.
H100_SXM = """
gpu_device_info {{
  threads_per_block_limit: 1024
  threads_per_warp: 32
  shared_memory_per_block: 49152
  shared_memory_per_core: 233472
  shared_memory_per_block_optin: 232448
  threads_per_core_limit: 2048
  core_count: 132
  fpus_per_core: 128
  block_dim_limit_x: 2147483647
  block_dim_limit_y: 65535
  block_dim_limit_z: 65535
  thread_dim_limit_x: 1024
  thread_dim_limit_y: 1024
  thread_dim_limit_z: 64
  registers_per_core_limit: 65536
  registers_per_block_limit: 65536
  memory_bandwidth: 3352320000000
  l2_cache_size: 52428800
  clock_rate_ghz: 1.98
  device_memory_size: {memory}
  pcie_bandwidth: 34359738368
  cuda_compute_capability {{ major: 9 feature_extension: ACCELERATED_FEATURES }}
  device_vendor: "NVIDIA Corporation"
  name: "NVIDIA H100 80GB HBM3"
  driver_version: "13.0.0"
  runtime_version: "12.8.0"
  compile_time_toolkit_version: "12.8.0"
  dnn_version: "9.10.0"
  device_interconnect_info {{ active_links: 18 }}
}}
platform_name: "CUDA"
dnn_version_info {{ major: 9 minor: 10 patch: 0 }}
device_description_str: "NVIDIA H100 80GB HBM3"
"""


def prepare(flags):
    """Before jax is imported."""
    os.environ.update(JAX_PLATFORMS="cpu", DECOUPLE_GCLOUD="TRUE", XLA_FLAGS=f"{AUTOTUNING_OFF} {flags}")


def describe(fraction):
    """The target as XLA reads it. Its memory is scaled so that the compiler plans with `fraction` of the real one."""
    return H100_SXM.format(memory=round(MEMORY * fraction / DEFAULT_FRACTION))


def topology(nodes, fraction):
    """Devices of that many nodes, none of which exist."""
    from jax._src import xla_bridge
    from jax.experimental import topologies
    known = xla_bridge.canonicalize_platform
    xla_bridge.canonicalize_platform = lambda name: "cuda" if name in ("gpu", "cuda") else known(name)
    return topologies.get_topology_desc(platform="cuda", target_config=describe(fraction),
                                        topology=f"{nodes}x1x{GPUS_PER_NODE}")


def teach_maxtext(nodes, fraction):
    """MaxText's train_compile takes a GPU topology from the devices that are there; here it takes the described one.
    Returns the MaxText arguments that ask for it."""
    from jax.experimental import mesh_utils
    from maxtext.trainers.pre_train import train_compile
    from maxtext.utils import accelerator_to_spec_map

    described = topology(nodes, fraction)
    train_compile.get_topology_desc = lambda **_: described
    # Any platform but "gpu", whose branch asks for local devices.
    accelerator_to_spec_map.UserFacingNameToSystemCharacteristics["described-gpu"] = (
        accelerator_to_spec_map.SystemCharacteristics("described", None, None, None, GPUS_PER_NODE, None))
    if nodes > 1:  # devices of a described topology have no slice_index
        hybrid = mesh_utils.create_hybrid_device_mesh
        mesh_utils.create_hybrid_device_mesh = lambda *args, **keywords: hybrid(
            *args, **{**keywords, "process_is_granule": True})
    return ["hardware=gpu", "compile_topology=described-gpu", f"compile_topology_num_slices={nodes}"]


def tell_cudnn():
    """attention=cudnn_flash_jax asks the device for its cuDNN and compute capability."""
    from jax._src.cudnn import fused_attention_stablehlo as attention
    attention.check_cudnn_version = lambda: 92800
    attention.check_compute_capability = lambda capability: float(capability) <= 9.0
