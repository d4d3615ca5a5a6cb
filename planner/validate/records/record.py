#!/usr/bin/env python3
"""Compiles one MaxText train step ahead of time for a TPU topology or for H100s, without either, and writes it as a
record.

    record.py --maxtext SRC --shardplan BINARY [--program train] ID KEY=VALUE...
    record.py --maxtext SRC --shardplan BINARY --h100-nodes N [--memory-fraction F] [--xla-flags "…"] ID KEY=VALUE...

SRC is MaxText's src folder (records here: commit e591f30cb), BINARY a built shardplan, which counts the collectives of
the compiled program (`audit`). KEY=VALUE are MaxText's arguments; compile_topology names the TPU. `--program train`
compiles the training loop's step in place of train_compile's: they differ under shard_optimizer_over_data.
Writes ID.json here (--out: elsewhere) and ID.hlo.txt.gz to the working folder. `--stop-at-buffers` (TPUs) ends the
compiler once it has assigned buffers: a fifth of the time, the same collectives, the peak within 50 KB.

README.md says what it wants from PyPI.
"""
import argparse, contextlib, gzip, json, os, pathlib, signal, subprocess, sys, tempfile, time

import buffer_memory
import gpu_target

# Collective matmul off, so that collectives appear as themselves.
TPU_FLAGS = "--xla_jf_spmd_threshold_for_windowed_einsum_mib=1000000"
SMALLEST = 4096  # bytes of a collective


def prepare_tpu():
    """Before jax is imported."""
    os.environ.update(TPU_SKIP_MDS_QUERY="1", JAX_PLATFORMS="cpu", ALLOW_MULTIPLE_LIBTPU_LOAD="1",
                      DECOUPLE_GCLOUD="TRUE", LIBTPU_INIT_ARGS="--xla_tpu_spmd_rng_bit_generator_unsafe=true")


def jit_step(maxtext, arguments, in_training_loop, target):
    """The step as train_compile.py (or train.py's train_loop) jits it, a context to trace it in, what it is called with,
    positional and named, and its mesh. `target` makes the machine known and returns MaxText's arguments for it."""
    import jax
    jax.config.update("jax_default_prng_impl", "unsafe_rbg")
    from flax.linen import partitioning
    from maxtext.configs import pyconfig
    from maxtext.trainers.pre_train import train, train_compile
    from maxtext.utils import maxtext_utils, sharding

    base = str(maxtext / "maxtext/configs/base.yml")
    config = pyconfig.initialize(["record", base, "run_name=record", "base_output_directory=/tmp",
                                  *target(), *(f"{k}={v}" for k, v in arguments.items())])
    train_compile.validate_config(config)
    jax.config.update("jax_use_shardy_partitioner", config.shardy)
    mesh = train_compile.get_topology_mesh(config)
    inputs, keywords, state, _, model = train_compile.get_shaped_inputs(mesh, config)
    parameters, state = sharding.maybe_update_params_sharding_with_opt(config, state)
    if in_training_loop:
        given = state  # train_loop reshards the state to it before it lowers
        leaves, tree = jax.tree.flatten(inputs[0])
        leaves = [jax.ShapeDtypeStruct(leaf.shape, leaf.dtype, sharding=its)
                  for leaf, its in zip(leaves, jax.tree.leaves(state), strict=True)]
        inputs = (jax.tree.unflatten(tree, leaves), *inputs[1:])
    else:
        given = sharding.build_zero1_input_state_mesh_shardings(config, state, parameters)
    step, ins, outs, static, donated = maxtext_utils.get_functional_train_with_signature(
        train.train_step, sharding.get_input_data_sharding(config, mesh), given, model, config, parameters)
    jitted = jax.jit(step, in_shardings=ins, out_shardings=outs, static_argnums=static, donate_argnums=donated)

    @contextlib.contextmanager
    def tracing():
        with jax.set_mesh(mesh), mesh, partitioning.axis_rules(config.logical_axis_rules):
            yield

    return jitted, tracing, inputs, keywords, dict(mesh.shape)


def lower(maxtext, arguments, in_training_loop, target):
    """The step, lowered, and its mesh."""
    jitted, tracing, inputs, keywords, mesh = jit_step(maxtext, arguments, in_training_loop, target)
    with tracing():
        return jitted.lower(*inputs, **keywords), mesh


def collectives(shardplan, hlo, mesh):
    sizes = ",".join(f"{axis}={size}" for axis, size in mesh.items() if size > 1)
    audit = subprocess.run([shardplan, "audit", "--hlo", hlo, "--mesh", sizes, "--format", "json"],
                           capture_output=True, text=True)
    if audit.returncode not in (0, 4):  # 4: it has findings to show
        sys.exit(audit.stderr)
    found = audit.stdout
    keys = ("phase", "kind", "axes", "group_size", "bytes", "executions")
    return [{key: c[key] for key in keys} for c in json.loads(found)["collectives"] if c["bytes"] >= SMALLEST]


def parse():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--maxtext", required=True, type=pathlib.Path)
    parser.add_argument("--shardplan", required=True)
    parser.add_argument("--program", choices=("train", "train_compile"), default="train_compile")
    parser.add_argument("--h100-nodes", type=int, metavar="N", help="compile for N nodes of 8 H100 in place of a TPU")
    parser.add_argument("--memory-fraction", type=float, default=gpu_target.DEFAULT_FRACTION, metavar="F",
                        help="of the GPU's memory, that XLA plans with")
    parser.add_argument("--xla-flags", default="", metavar="FLAGS", help="of XLA:GPU, beside those that switch autotuning off")
    parser.add_argument("--stop-at-buffers", action="store_true", help="no code generation")
    parser.add_argument("--out", type=pathlib.Path, default=pathlib.Path(__file__).parent)
    parser.add_argument("id")
    parser.add_argument("arguments", nargs="+", metavar="KEY=VALUE")
    return parser.parse_args()


def peak_memory(compiled):
    memory = compiled.memory_analysis()
    held = memory.argument_size_in_bytes + memory.output_size_in_bytes - memory.alias_size_in_bytes + memory.temp_size_in_bytes
    peak = min(memory.peak_memory_in_bytes, held)  # XLA:GPU counts what is offloaded to the host, too, among the first
    return {"arguments_bytes": memory.argument_size_in_bytes, "outputs_bytes": memory.output_size_in_bytes,
            "aliased_bytes": memory.alias_size_in_bytes, "temporaries_bytes": memory.temp_size_in_bytes,
            "generated_code_bytes": memory.generated_code_size_in_bytes, "peak_bytes": peak}


def compile_for_gpu(options, arguments):
    gpu_target.prepare(options.xla_flags)

    def target():
        gpu_target.tell_cudnn()
        return gpu_target.teach_maxtext(options.h100_nodes, options.memory_fraction)

    lowered, mesh = lower(options.maxtext, arguments, options.program == "train", target)
    chips = options.h100_nodes * gpu_target.GPUS_PER_NODE
    told = {"hardware": {"name": "h100", "chips": chips, "slices": options.h100_nodes}}
    if options.xla_flags:
        told["xla_flags"] = options.xla_flags.split()
    if options.memory_fraction != gpu_target.DEFAULT_FRACTION:
        told["memory_fraction"] = options.memory_fraction
    return lowered.compile(), mesh, told


def compile_for_tpu(options, arguments, more={}, tell=lambda mesh: None):
    prepare_tpu()
    given = arguments.get("compile_xla_flags", "")  # MaxText refuses a flag that is given twice
    flags = given if TPU_FLAGS.split("=")[0] in given else f"{TPU_FLAGS} {given}".strip()
    lowered, mesh = lower(options.maxtext, arguments, options.program == "train",
                          lambda: ["compile_topology_num_slices=1", "compile_xla_flags=" + flags])
    tell(mesh)
    from maxtext.utils import max_utils
    return lowered.compile(compiler_options=max_utils.parse_libtpu_flags_to_dict(flags) | more), mesh, {}


def stop_at_buffers(options, arguments):
    """The program's text, its memory and mesh. A child compiles until its dump has the buffers."""
    with tempfile.TemporaryDirectory() as folder:
        dump, told = pathlib.Path(folder, "dump"), pathlib.Path(folder, "mesh.json")
        dump.mkdir()
        child = os.fork()
        if child == 0:
            compile_for_tpu(options, arguments, {"xla_dump_to": str(dump), "xla_dump_hlo_as_text": True},
                            lambda mesh: told.write_text(json.dumps(mesh)))
            os._exit(0)
        ended = 0
        while not ended and not buffer_memory.is_complete(dump):
            time.sleep(2)
            ended, status = os.waitpid(child, os.WNOHANG)
        if not ended:
            os.kill(child, signal.SIGKILL)
            os.waitpid(child, 0)
        elif status:
            sys.exit("not compiled: see above")
        return (buffer_memory.one(dump, buffer_memory.PROGRAM), buffer_memory.memory(dump), json.loads(told.read_text()))


def main():
    options = parse()
    sys.path.insert(0, str(options.maxtext))
    arguments = dict(word.split("=", 1) for word in options.arguments)
    told = {}
    if options.stop_at_buffers:
        text, memory, mesh = stop_at_buffers(options, arguments)
    else:
        compiled, mesh, told = (compile_for_gpu if options.h100_nodes else compile_for_tpu)(options, arguments)
        text, memory = compiled.as_text(), peak_memory(compiled)
    hlo = options.id + ".hlo.txt.gz"
    with gzip.open(hlo, "wt") as file:
        file.write(text)
    record = {"schema_version": 1, "id": options.id, "arguments": arguments, **told, "program": options.program,
              "mesh": mesh, "collectives": collectives(options.shardplan, hlo, mesh), "memory": memory}
    (options.out / (options.id + ".json")).write_text(json.dumps(record, indent=1) + "\n")


if __name__ == "__main__":
    main()
