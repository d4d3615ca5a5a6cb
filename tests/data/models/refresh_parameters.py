#!/usr/bin/env python3
"""Counts the parameters of MaxText's models as its train state has them: global shapes, nothing is compiled.

    refresh_parameters.py --maxtext SRC [MODEL…]

SRC is MaxText's src folder (commit e591f30cb); without MODEL all of its model files are counted. Writes
parameters.json here: parameters by model. planner/validate/records/README.md says what it wants from PyPI.
"""
import argparse, json, math, os, pathlib, sys

os.environ.update(TPU_SKIP_MDS_QUERY="1", JAX_PLATFORMS="cpu", ALLOW_MULTIPLE_LIBTPU_LOAD="1", DECOUPLE_GCLOUD="TRUE")
HERE = pathlib.Path(__file__).parent
# Any topology that every model starts on: shapes are global.
ARGUMENTS = ["run_name=count", "base_output_directory=/tmp", "compile_topology=v5p-16", "compile_topology_num_slices=1",
             "per_device_batch_size=1"]
# What MaxText wants of some models before it starts.
OF_MODELS = {"deepseek3.2-671b": "attention=dot_product", "deepseek4-284b": "attention=dot_product",
             "deepseek4-tiny": "attention=dot_product",
             "gemma4-e2b": "scan_layers=False", "gemma4-e4b": "scan_layers=False"}
# A file whose name MaxText doesn't take as a model_name; the tokenizer that engram wants; and models whose train state
# holds their towers.
LEFT_OUT = {"llama3-405b", "deepseek-custom", "qwen3-vl-2b", "qwen3-vl-4b", "qwen3-vl-30b-a3b", "qwen3-omni-30b-a3b"}


def parameters(model, base):
    import jax
    from maxtext.configs import pyconfig
    from maxtext.trainers.pre_train import train_compile
    config = pyconfig.initialize(["count", base, f"model_name={model}", *ARGUMENTS,
                                  *OF_MODELS.get(model, "").split()])
    train_compile.validate_config(config)
    inputs, *_ = train_compile.get_shaped_inputs(train_compile.get_topology_mesh(config), config)
    leaves, _ = jax.tree_util.tree_flatten_with_path(inputs[0])
    return sum(math.prod(leaf.shape) for path, leaf in leaves
               if "opt" not in jax.tree_util.keystr(path[:1]) and "float" in str(leaf.dtype))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--maxtext", required=True, type=pathlib.Path)
    parser.add_argument("models", nargs="*", metavar="MODEL")
    given = parser.parse_args()
    sys.path.insert(0, str(given.maxtext))
    import jax
    jax.config.update("jax_default_prng_impl", "unsafe_rbg")
    configs = given.maxtext / "maxtext/configs"
    models = given.models or sorted({path.stem for path in (configs / "models").glob("*.yml")} - LEFT_OUT)
    file = HERE / "parameters.json"
    counted = json.loads(file.read_text()) if file.exists() else {}
    for model in models:
        counted[model] = parameters(model, str(configs / "base.yml"))
        print(model, counted[model], flush=True)
    file.write_text(json.dumps(counted, indent=1, sort_keys=True) + "\n")


if __name__ == "__main__":
    main()
