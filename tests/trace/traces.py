"""Traces that tests look at: of plans with and without a pipeline and host copies, of a program beside its plan,
of loops in loops."""
import json
import pathlib
import subprocess

data = pathlib.Path(__file__).resolve().parents[1] / "data"
llama = "explain --model llama2-7b --hardware h100 --chips 8 attention=cudnn_flash_te"
lines = {
    "fsdp": f"{llama} --mesh fsdp=8",
    "pipeline": f"{llama} --mesh stage=2,fsdp=4",
    "offloaded": f"{llama} --mesh fsdp=8 optimizer_memory_host_offload=True",
    "layer-kinds": "explain --model deepseek3-671b --hardware tpu-v5p --chips 256 --mesh fsdp=64,expert=4 per_device_batch_size=1",
    "program": f"audit --timeline --hlo {data}/audit/mx7_v5p8_ep8_dm.hlo.gz model_name=mixtral-8x7b per_device_batch_size=1 "
               "ici_fsdp_parallelism=1 ici_expert_parallelism=8 capacity_factor=1.25 sparse_matmul=False megablox=False "
               "base_num_decoder_layers=4 override_model_config=True max_target_length=4096 compile_topology=v5p-16 "
               "moe_dispatch_no_expert_sharding=True",
    "nested-loops": f"audit --timeline --hlo {data}/audit/toy_nested_loops.hlo --hardware toy-torus --chips 8",
    "experts-program": f"audit --timeline --hlo {data}/audit/ds16_7x8_ep4fsdp2.hlo.gz --hardware tpu-7x --chips 4",
}


def write_trace(binary, name, folder):
    """The trace's path and what stands in it."""
    path = folder / f"{name}.trace.json"
    run = subprocess.run([binary, *lines[name].split(), "--trace", str(path)], capture_output=True, text=True)
    assert run.returncode in (0, 3, 4), run.stderr
    return path, json.loads(path.read_text())


def slices_of(trace):
    return [event for event in trace["traceEvents"] if event["ph"] == "X"]
