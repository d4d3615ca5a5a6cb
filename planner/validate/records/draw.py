#!/usr/bin/env python3
"""Draws train steps at random that no record has: what predictions are worth on programs that nobody has looked at.

    draw.py --shardplan BINARY --seed N [--plans 16] [--random 10] [--whole 0] [--h100] > drawn.txt

One program a line: an id, a tab, MaxText's arguments, as record.py takes them. The same seed and binary draw the same;
every other one is a mixture of experts. `plan_…`: what the binary recommends for a model, a machine and 8 to 256 chips,
whole. The others: a model of a few layers, mesh, rule set, path through the experts, remat policy, batch, sequence and up
to two settings, each drawn; what MaxText or the binary refuses, and what is predicted not to fit, is drawn again.
`--whole`: models with all of their layers, on meshes of the axes that most runs have, one setting at most (TPUs).
`--h100`: for nodes of 8 H100 in place of TPUs, with the attention that compiles without TransformerEngine.
"""
import argparse, json, pathlib, random, shlex, subprocess

DENSE = ("gemma-2b gemma-7b gemma2-9b gemma3-4b gemma3-12b gemma3-27b llama2-7b llama2-13b llama2-70b llama3.1-8b "
         "llama3.1-70b llama3.1-405b mistral-7b olmo3-7b olmo3-32b qwen2.5-1.5b qwen2.5-7b qwen2.5-14b qwen3-0.6b "
         "qwen3-1.7b qwen3-4b qwen3-8b qwen3-14b qwen3-32b").split()
MIXTURE = ("deepseek2-16b deepseek2-236b deepseek3-671b gpt-oss-20b gpt-oss-120b kimi-k2-1t llama4-17b-16e mixtral-8x7b "
           "mixtral-8x22b qwen3-30b-a3b qwen3-235b-a22b qwen3-480b-a35b qwen3-next-80b-a3b qwen3.5-35b-a3b").split()
# Models whose programs of a few layers are whole: no cycle that the number of layers has to be a multiple of.
SHALLOW_DENSE = ("gemma-7b llama2-7b llama2-13b llama3.1-8b llama3.1-70b mistral-7b qwen2.5-7b qwen2.5-14b qwen3-4b qwen3-8b "
                 "qwen3-14b").split()
SHALLOW_MIXTURE = "deepseek2-16b mixtral-8x7b mixtral-8x22b qwen3-30b-a3b".split()
MACHINES = {"tpu-v5p": ("v5p-", 2), "tpu-v6e": ("v6e-", 1), "tpu-7x": ("tpu7x-", 2)}  # topology counts: a chip's cores
GPUS_A_NODE, GPU_MEMORY_FRACTION = 8, 0.94
GPU_ATTENTION = "attention=cudnn_flash_jax"
POLICIES = ("full minimal minimal_with_context save_dot_except_mlp save_dot_with_context_except_mlp save_out_proj "
            "save_qkv_proj qkv_proj_offloaded minimal_offloaded").split()
SETTINGS = ("shard_optimizer_over_data=True use_iota_embed=True fused_qkv=True packing=False grad_dtype=bfloat16 "
            "weight_dtype=bfloat16 mu_dtype=bfloat16 logits_dot_in_fp32=True gradient_clipping_threshold=0 "
            "gradient_accumulation_steps=2 dense_fsdp_use_two_stage_all_gather=True").split()
PATHS = {
    "ragged": {"sparse_matmul": "True", "megablox": "True"},
    "ring": {"sparse_matmul": "True", "megablox": "True", "use_ring_of_experts": "True"},
    "dm": {"sparse_matmul": "False", "megablox": "False", "capacity_factor": "1.25",
           "moe_dispatch_no_expert_sharding": "False"},
    "fix": {"sparse_matmul": "False", "megablox": "False", "capacity_factor": "1.25",
            "moe_dispatch_no_expert_sharding": "True"},
}


def short(name):
    return name.replace(".", "").replace("-", "")


def answer(binary, *words):
    run = subprocess.run([binary, *words, "--format", "json"], capture_output=True, text=True)
    return json.loads(run.stdout) if run.returncode in (0, 4) else None


def as_words(arguments):
    return [f"{key}={value}" for key, value in arguments.items()]


def h100_options(gpus):
    """What record.py is told beside MaxText's arguments."""
    return ["--h100-nodes", str(gpus // GPUS_A_NODE), "--memory-fraction", str(GPU_MEMORY_FRACTION)]


def recommended(binary, *words):
    """The commands of the best plan; None where nothing fits."""
    found = answer(binary, *words)
    feasible = found is not None and found["results"][0]["feasible"]
    return found["results"][0]["recommended"]["commands"] if feasible else None


def arguments_of(command):
    return [word for word in shlex.split(command) if "=" in word and word[0].islower()]  # not the environment's


def draw_plan(binary, draw, mixture):
    model = draw.choice(MIXTURE if mixture else DENSE)
    machine, chips = draw.choice(list(MACHINES)), draw.choice((8, 16, 32, 64, 128, 256))
    commands = recommended(binary, "--model", model, "--chips", str(chips), "--hardware", machine)
    return commands and (f"plan_{short(model)}_{short(machine)}_{chips}", arguments_of(commands["train_compile"]))


def draw_gpu_plan(binary, draw, mixture):
    model, gpus = draw.choice(MIXTURE if mixture else DENSE), draw.choice((8, 16, 32, 64))
    commands = recommended(binary, "--model", model, "--chips", str(gpus), "--hardware", "h100", "--memory-fraction",
                           str(GPU_MEMORY_FRACTION), GPU_ATTENTION)
    return commands and (f"plan_{short(model)}_h100_{gpus}", arguments_of(commands["train"]) + h100_options(gpus))


def all_axes(mixture):
    return ["data", "fsdp", "fsdp", "fsdp", "tensor", "context", "fsdp_transpose"] + (["expert", "expert"] if mixture else [])


def draw_mesh(draw, devices, axes):
    """One to three axes whose sizes make up the devices."""
    mesh, left = {}, devices
    while left > 1:
        size = draw.choice([n for n in (2, 4, 8, 16, 32) if left % n == 0])
        axis = draw.choice(axes)
        mesh[axis] = mesh.get(axis, 1) * size
        left //= size
    return mesh


def draw_random(binary, draw, mixture):
    model = draw.choice(SHALLOW_MIXTURE if mixture else SHALLOW_DENSE)
    prefix, cores = MACHINES[draw.choice(list(MACHINES))]
    topology = draw.choice((4, 8, 16) if cores == 1 else (8, 16, 32))
    mesh = draw_mesh(draw, topology // 2 if prefix == "v5p-" else topology, all_axes(mixture))
    layers, path = draw.choice((2, 3, 4, 6)), draw.choice(list(PATHS)) if mixture else ""
    if path == "ring" and "expert" not in mesh:
        return None
    policy, settings = draw.choice(POLICIES), draw.sample(SETTINGS, draw.choice((0, 0, 1, 2)))
    rules = draw.choice(["", "", "", "ep-as-cp", "cp-as-ep", "ep-as-dp", "shard-exp-on-fsdp"]) if mixture else ""
    arguments = {"model_name": model, "compile_topology": f"{prefix}{topology}", "base_num_decoder_layers": layers,
                 "override_model_config": "True", "ici_fsdp_parallelism": "1",
                 **{f"ici_{axis}_parallelism": size for axis, size in mesh.items()},
                 "per_device_batch_size": draw.choice((1, 2, 4, 8)), "max_target_length": draw.choice((1024, 2048, 4096, 8192)),
                 "remat_policy": policy, **PATHS.get(path, {}), **({"custom_mesh_and_rule": rules} if rules else {}),
                 **dict(setting.split("=") for setting in settings)}
    found = answer(binary, "explain", *as_words(arguments))
    if found is None or not found.get("feasible") or found.get("fit") == "does_not_fit":
        return None
    words = [f"{short(model)}x{layers}", short(prefix.replace("tpu", "")) + str(topology)]
    words += [f"{axis}{size}" for axis, size in mesh.items()]
    return "_".join(words + [w for w in (path, short(rules), policy) if w]), as_words(arguments)


def draw_whole(binary, draw, mixture):
    model = draw.choice(MIXTURE if mixture else DENSE)
    prefix, cores = MACHINES[draw.choice(list(MACHINES))]
    topology = draw.choice((8, 16, 32, 64)) * cores
    axes = ("fsdp fsdp fsdp tensor context data".split() + ["expert", "expert"] * mixture)
    mesh = draw_mesh(draw, topology // 2 if prefix == "v5p-" else topology, axes)
    path = draw.choice(list(PATHS)) if mixture else ""
    if path == "ring" and "expert" not in mesh:
        return None
    policy, settings = draw.choice(POLICIES), draw.sample(SETTINGS, draw.choice((0, 0, 1)))
    arguments = {"model_name": model, "compile_topology": f"{prefix}{topology}", "ici_fsdp_parallelism": "1",
                 **{f"ici_{axis}_parallelism": size for axis, size in mesh.items()},
                 "per_device_batch_size": draw.choice((1, 2, 4, 8)), "max_target_length": draw.choice((2048, 4096, 8192)),
                 "remat_policy": policy, **PATHS.get(path, {}), **dict(setting.split("=") for setting in settings)}
    found = answer(binary, "explain", *as_words(arguments))
    if found is None or not found.get("feasible") or found.get("fit") == "does_not_fit":
        return None
    words = [short(model), short(prefix.replace("tpu", "")) + str(topology)]
    words += [f"{axis}{size}" for axis, size in mesh.items()]
    return "_".join(words + [w for w in (path, policy) if w]), as_words(arguments)


def draw_gpu_random(binary, draw, mixture):
    model, layers = draw.choice(SHALLOW_MIXTURE if mixture else SHALLOW_DENSE), draw.choice((2, 3, 4, 6))
    mesh, path = draw_mesh(draw, GPUS_A_NODE, all_axes(mixture)), draw.choice(("dm", "fix")) if mixture else ""
    policy, settings = draw.choice(POLICIES), draw.sample(SETTINGS, draw.choice((0, 0, 1, 2)))
    rules = draw.choice(["", "", "", "ep-as-cp", "cp-as-ep", "ep-as-dp", "shard-exp-on-fsdp"]) if mixture else ""
    arguments = {"model_name": model, "hardware": "gpu", "base_num_decoder_layers": layers, "override_model_config": "True",
                 "ici_fsdp_parallelism": "1", **{f"ici_{axis}_parallelism": size for axis, size in mesh.items()},
                 "per_device_batch_size": draw.choice((1, 2, 4, 8)), "max_target_length": draw.choice((1024, 2048, 4096, 8192)),
                 **dict([GPU_ATTENTION.split("=")]), "remat_policy": policy, **PATHS.get(path, {}),
                 **({"custom_mesh_and_rule": rules} if rules else {}), **dict(setting.split("=") for setting in settings)}
    found = answer(binary, "explain", "--hardware", "h100", "--chips", str(GPUS_A_NODE), *as_words(arguments))
    if found is None or not found.get("feasible") or found.get("fit") == "does_not_fit":
        return None
    words = [f"{short(model)}x{layers}", f"h100x{GPUS_A_NODE}"] + [f"{axis}{size}" for axis, size in mesh.items()]
    return "_".join(words + [w for w in (path, short(rules), policy) if w]), as_words(arguments) + h100_options(GPUS_A_NODE)


def several(number, draw_one, unwanted):
    drawn = {}
    while len(drawn) < number:
        one = draw_one(len(drawn))
        if one and one[0] not in unwanted:
            drawn[one[0]] = one[1]
    return drawn


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--shardplan", required=True)
    parser.add_argument("--seed", required=True, type=int)
    parser.add_argument("--plans", type=int, default=16)
    parser.add_argument("--random", type=int, default=10)
    parser.add_argument("--whole", type=int, default=0)
    parser.add_argument("--h100", action="store_true")
    options = parser.parse_args()
    here = pathlib.Path(__file__).parent
    recorded = {path.stem for folder in (here, here.parent / "misses") for path in folder.glob("*.json")}
    draw = random.Random(options.seed)
    plan, step = (draw_gpu_plan, draw_gpu_random) if options.h100 else (draw_plan, draw_random)
    plans = several(options.plans, lambda n: plan(options.shardplan, draw, n % 2 == 1), recorded)
    others = several(options.random, lambda n: step(options.shardplan, draw, n % 2 == 1), recorded)
    whole = several(options.whole, lambda n: draw_whole(options.shardplan, draw, n % 2 == 1), recorded)
    for name, words in {**plans, **others, **whole}.items():
        print(name, shlex.join(words), sep="\t")


if __name__ == "__main__":
    main()
