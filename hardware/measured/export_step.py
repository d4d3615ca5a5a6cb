#!/usr/bin/env python3
"""A MaxText train step for one GPU as a portable program, which run_on_gpu.py compiles and times where there is one.

    export_step.py --maxtext SRC --out FOLDER ID KEY=VALUE...

SRC is MaxText's src folder; KEY=VALUE are its arguments. Needs what planner/validate/records/record.py needs, with the
same JAX as on the machine with the GPU (a program is read by the JAX that wrote it), and no GPU.
"""
import argparse, json, pathlib, sys

RECORDS = pathlib.Path(__file__).resolve().parents[2] / "planner/validate/records"
CUSTOM_CALLS = ("__cudnn$fmhaSoftmax", "__cudnn$fmhaSoftmaxBackward", "Sharding")


def parse():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--maxtext", required=True, type=pathlib.Path)
    parser.add_argument("--out", required=True, type=pathlib.Path)
    parser.add_argument("id")
    parser.add_argument("arguments", nargs="+", metavar="KEY=VALUE")
    return parser.parse_args()


def main():
    options = parse()
    sys.path[:0] = [str(RECORDS), str(options.maxtext)]
    import gpu_target
    import record
    gpu_target.prepare("")
    gpu_target.GPUS_PER_NODE = 1
    import jax
    from jax import export

    def target():
        gpu_target.tell_cudnn()
        return gpu_target.teach_maxtext(1, gpu_target.DEFAULT_FRACTION)

    arguments = dict(word.split("=", 1) for word in options.arguments)
    jitted, tracing, inputs, keywords, _ = record.jit_step(options.maxtext, arguments, False, target)
    flat, tree = jax.tree_util.tree_flatten((inputs, keywords))

    def step(*leaves):
        given, named = jax.tree_util.tree_unflatten(tree, leaves)
        return tuple(jax.tree_util.tree_leaves(jitted(*given, **named)))

    shapes = [jax.ShapeDtypeStruct(leaf.shape, leaf.dtype, sharding=getattr(leaf, "sharding", None)) for leaf in flat]
    allowed = [export.DisabledSafetyCheck.custom_call(name) for name in CUSTOM_CALLS]
    with tracing():
        exported = export.export(jax.jit(step), platforms=("cuda",), disabled_checks=allowed)(*shapes)
    names = [jax.tree_util.keystr(path) for path, _ in jax.tree_util.tree_flatten_with_path((inputs, keywords))[0]]
    (options.out / (options.id + ".export")).write_bytes(bytes(exported.serialize()))
    (options.out / (options.id + ".json")).write_text(json.dumps(
        {"arguments": arguments, "inputs": names, "state": len(jax.tree_util.tree_leaves(inputs[0]))}))


if __name__ == "__main__":
    main()
