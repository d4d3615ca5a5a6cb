#!/usr/bin/env python3
"""Compiles one MaxText train step ahead of time for a TPU topology, without TPUs, and writes it as a record.

    record.py --maxtext SRC --shardplan BINARY [--program train] ID KEY=VALUE...

SRC is MaxText's src folder (records here: commit e591f30cb), BINARY a built shardplan, which counts the collectives of
the compiled program (`audit`). KEY=VALUE are MaxText's arguments; compile_topology names the TPU. `--program train`
compiles the training loop's step in place of train_compile's: they differ under shard_optimizer_over_data.
Writes ID.json here and ID.hlo.txt.gz to the working folder.

Wants Python 3.12 and, from PyPI: jax==0.12.0.1 libtpu==0.0.50.1 and what MaxText imports (its tpu-requirements.txt). A
compile takes one to five minutes and 2 GB.
"""
import argparse, gzip, json, os, pathlib, subprocess, sys

os.environ.update(TPU_SKIP_MDS_QUERY="1", JAX_PLATFORMS="cpu", ALLOW_MULTIPLE_LIBTPU_LOAD="1", DECOUPLE_GCLOUD="TRUE",
                  LIBTPU_INIT_ARGS="--xla_tpu_spmd_rng_bit_generator_unsafe=true")
# Collective matmul off, so that collectives appear as themselves.
FLAGS = "--xla_jf_spmd_threshold_for_windowed_einsum_mib=1000000"
SMALLEST = 4096  # bytes of a collective


def lower(maxtext, arguments, in_training_loop):
    """The step as train_compile.py (or train.py's train_loop) jits it, and its mesh."""
    sys.path.insert(0, str(maxtext))
    import jax
    jax.config.update("jax_default_prng_impl", "unsafe_rbg")
    from flax.linen import partitioning
    from maxtext.configs import pyconfig
    from maxtext.trainers.pre_train import train, train_compile
    from maxtext.utils import maxtext_utils, sharding

    base = str(maxtext / "maxtext/configs/base.yml")
    config = pyconfig.initialize(["record", base, "run_name=record", "base_output_directory=/tmp",
                                  "compile_topology_num_slices=1", "compile_xla_flags=" + FLAGS,
                                  *(f"{k}={v}" for k, v in arguments.items())])
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
    with jax.set_mesh(mesh), mesh, partitioning.axis_rules(config.logical_axis_rules):
        jitted = jax.jit(step, in_shardings=ins, out_shardings=outs, static_argnums=static, donate_argnums=donated)
        return jitted.lower(*inputs, **keywords), dict(mesh.shape)


def collectives(shardplan, hlo, mesh):
    sizes = ",".join(f"{axis}={size}" for axis, size in mesh.items() if size > 1)
    found = subprocess.run([shardplan, "audit", "--hlo", hlo, "--mesh", sizes, "--format", "json"], check=True,
                           capture_output=True, text=True).stdout
    keys = ("phase", "kind", "axes", "group_size", "bytes", "executions")
    return [{key: c[key] for key in keys} for c in json.loads(found)["collectives"] if c["bytes"] >= SMALLEST]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--maxtext", required=True, type=pathlib.Path)
    parser.add_argument("--shardplan", required=True)
    parser.add_argument("--program", choices=("train", "train_compile"), default="train_compile")
    parser.add_argument("id")
    parser.add_argument("arguments", nargs="+", metavar="KEY=VALUE")
    options = parser.parse_args()
    arguments = dict(word.split("=", 1) for word in options.arguments)
    lowered, mesh = lower(options.maxtext, arguments, options.program == "train")
    from maxtext.utils import max_utils
    compiled = lowered.compile(compiler_options=max_utils.parse_libtpu_flags_to_dict(FLAGS))
    hlo = options.id + ".hlo.txt.gz"
    with gzip.open(hlo, "wt") as file:
        file.write(compiled.as_text())
    memory = compiled.memory_analysis()
    record = {"schema_version": 1, "id": options.id, "arguments": arguments, "program": options.program, "mesh": mesh,
              "collectives": collectives(options.shardplan, hlo, mesh),
              "memory": {"arguments_bytes": memory.argument_size_in_bytes, "outputs_bytes": memory.output_size_in_bytes,
                         "aliased_bytes": memory.alias_size_in_bytes, "temporaries_bytes": memory.temp_size_in_bytes,
                         "generated_code_bytes": memory.generated_code_size_in_bytes,
                         "peak_bytes": memory.peak_memory_in_bytes}}
    folder = pathlib.Path(__file__).parent
    (folder / (options.id + ".json")).write_text(json.dumps(record, indent=1) + "\n")


if __name__ == "__main__":
    main()
