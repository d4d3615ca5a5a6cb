#!/usr/bin/env python3
"""Gives the commands that `plan` prints to MaxText's own configuration code, which refuses what would not start.

    start_check.py --maxtext SRC --shardplan BINARY [--hardware NAME] [--chips N] [--trace] [MODEL...] [-- PLAN_WORD...]

SRC is MaxText's src folder; it wants what record.py wants from PyPI (planner/validate/records/README.md). Without a MODEL
all of `models list`. Words behind -- are given to every `plan` (`-- --mesh tensor=2`). Of each answer the recommended plan and
its alternatives are checked. --trace traces the step, too, which takes seconds each: layers refuse what the configuration does
not. Exit status: 0 all accepted, 1 some refused.
"""
import argparse, contextlib, io, json, os, pathlib, shlex, subprocess, sys


nothing_fits = 3  # docs/exit-codes.md


def parse(words):
    split = words.index("--") if "--" in words else len(words)
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--maxtext", required=True)
    parser.add_argument("--shardplan", required=True)
    parser.add_argument("--hardware", default="tpu-v5p")
    parser.add_argument("--chips", default="256")
    parser.add_argument("--trace", action="store_true")
    parser.add_argument("models", nargs="*", metavar="MODEL")
    options = parser.parse_args(words[:split])
    options.plan_words = words[split + 1:]
    return options


def answer_of(options, *words):
    done = subprocess.run([options.shardplan, *words, "--format", "json"], capture_output=True, text=True)
    if done.returncode not in (0, nothing_fits):
        sys.exit(f"{shlex.join(done.args)}: {done.stderr.strip()}")
    return json.loads(done.stdout) if done.returncode == 0 else None


def compile_commands(options, model):
    """What the plans of one model are compiled ahead of time with; none where nothing fits."""
    answer = answer_of(options, "--model", model, "--hardware", options.hardware, "--chips", options.chips, *options.plan_words)
    if not answer:
        return []
    machine = answer["results"][0]
    plans = [machine["recommended"], *machine["alternatives"]]
    return list(dict.fromkeys(plan["commands"]["train_compile"] for plan in plans if "train_compile" in plan["commands"]))


def configure(options, settings):
    from maxtext.configs import pyconfig
    from maxtext.trainers.pre_train import train_compile
    base = os.path.join(options.maxtext, "maxtext/configs/base.yml")
    config = pyconfig.initialize(["start_check", base, "run_name=start_check", "base_output_directory=/tmp", *settings])
    train_compile.validate_config(config)
    train_compile.get_topology_mesh(config)


def trace(options, settings):
    import record
    given = dict(word.split("=", 1) for word in settings)
    jitted, tracing, inputs, keywords, _ = record.jit_step(pathlib.Path(options.maxtext), given, False, lambda: [])
    with tracing():
        jitted.trace(*inputs, **keywords)


def refusal(options, command):
    words = shlex.split(command)
    settings = [word for word in words[words.index("-m") + 2:] if "=" in word]
    try:
        with contextlib.redirect_stdout(io.StringIO()):
            (trace if options.trace else configure)(options, settings)
    except Exception as error:  # whatever MaxText raises
        return f"{type(error).__name__}: {error}"
    return None


def main():
    options = parse(sys.argv[1:])
    os.environ.update(TPU_SKIP_MDS_QUERY="1", JAX_PLATFORMS="cpu", ALLOW_MULTIPLE_LIBTPU_LOAD="1", DECOUPLE_GCLOUD="TRUE")
    records = pathlib.Path(__file__).parents[2] / "planner/validate/records"
    sys.path[:0] = [options.maxtext, str(records)]
    from maxtext.configs import pyconfig
    pyconfig._handle_config_exception = lambda error: None  # MaxText ends the process there
    models = options.models or [model["name"] for model in answer_of(options, "models", "list")["models"]]
    accepted, refused = 0, 0
    for model in models:
        for command in compile_commands(options, model):
            reason = refusal(options, command)
            accepted, refused = accepted + (reason is None), refused + (reason is not None)
            if reason:
                print(f"{model}: {reason}\n  {command}", flush=True)
    print(f"{accepted} accepted, {refused} refused")
    return 1 if refused else 0


if __name__ == "__main__":
    sys.exit(main())
