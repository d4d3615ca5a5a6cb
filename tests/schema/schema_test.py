#!/usr/bin/env python3
"""docs/schema against everything that it describes: the files that come with shardplan, recorded answers and fresh ones.
Usage: schema_test.py PATH_OF_SHARDPLAN"""
import copy
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import warnings

warnings.simplefilter("ignore", DeprecationWarning)  # RefResolver: python3-jsonschema of Debian 12 has nothing newer
debian_python = "/usr/bin/python3"
try:
    import jsonschema
except ModuleNotFoundError:
    if sys.executable == debian_python:
        sys.exit("python3-jsonschema is not installed")
    os.execv(debian_python, [debian_python, *sys.argv])  # its package is that one's alone

root = pathlib.Path(__file__).resolve().parents[2]
schemas = {path.name: json.loads(path.read_text()) for path in sorted((root / "docs/schema").glob("*.json"))}
files = {"hardware-profile.json": ["hardware/profiles", "hardware/toys"], "compiler.json": ["compilers"], "model.json": ["models/configs"]}
commands = {name: f"{name}.json" for name in ["plan", "check", "audit", "validate", "sweep", "compare", "calibrate"]}
keys = {"hardware": "hardware.json", "models": "models.json", "model": "models.json", "rules": "rules.json", "spec": "rules.json"}

# Answers that no golden file has; each is computed here.
fresh = [
    "hardware list", "hardware show h100", "hardware show toy-torus", "models list", "models show gemma3-4b", "rules list",
    "rules show default", "rules resolve default --mesh fsdp=4,expert=2 activation_batch - activation_embed",
    "validate --ranges", "validate --times",
    "check --rules default --model mixtral-8x7b --mesh expert=8",
    f"check --rules {root}/rules/sets/default.yml --model llama2-7b --chips 8",  # a rule of the model, on no line of the file
    "explain --model mixtral-8x7b --hardware h100 --chips 8 --mesh expert=8 attention=cudnn_flash_te",
    "explain model_name=llama2-7b compile_topology=v5p-8 ici_pipeline_parallelism=2 ici_data_parallelism=2 ici_fsdp_parallelism=1 shard_optimizer_over_data=True",
    "explain --model llama2-7b --hardware h100 --chips 8 --mesh fsdp=8 --xla-flags --xla_gpu_enable_latency_hiding_scheduler=true",
    f"explain --model {root}/tests/data/models/huggingface/qwen3-30b-a3b.json --hardware h100 --chips 16 --mesh data=2,expert=8 attention=cudnn_flash_te",
    "plan --model llama3.1-405b --hardware toy-switch,h100 --chips 4 --rules default --remat full --global-batch-tokens 64k",
    "plan --model llama2-7b --hardware h100 --chips 8 --rules default --remat full --objective cost --price h100=2 --global-batch-tokens 64k",
    "compare --model mixtral-8x7b --chips 8 --hardware mi355x --rules default,ep-as-dp --moe dropping --remat minimal --global-batch-tokens 128k",
    "compare --rules default --against ep-as-dp --model mixtral-8x7b --chips 8 --hardware mi355x --moe dropping --remat minimal --global-batch-tokens 128k",
    "sweep --model llama2-7b --hardware h100,tpu-v4 --chips 2,8 --rules default --remat full --tokens 1T --price h100=2 --global-batch-tokens 64k",
]


def closed(schema):
    """The same where an object has no key that is not described."""
    if isinstance(schema, list):
        return [closed(item) for item in schema]
    if not isinstance(schema, dict):
        return schema
    result = {key: closed(value) for key, value in schema.items()}
    if isinstance(schema.get("properties"), dict) and "type" in schema:
        result.setdefault("additionalProperties", False)
    return result


described = {name: closed(schema) if name not in files else schema for name, schema in schemas.items()}


def errors(document, name):
    schema = described[name]
    resolver = jsonschema.RefResolver(name, schema, store=described)
    return [f"{'/'.join(map(str, error.absolute_path))}: {error.message[:300]}"
            for error in jsonschema.Draft202012Validator(schema, resolver=resolver).iter_errors(document)]


def schema_of(document):
    if "command" in document:
        return commands[document["command"]]
    found = [keys[key] for key in keys if key in document and "collectives" not in document]
    return found[0] if found else "evaluation.json"


failures = []


def check(document, name, what):
    failures.extend(f"{what} against {name}: {message}" for message in errors(document, name)[:3])


def goldens():
    for folder in sorted((root / "tests/golden").iterdir()):
        arguments, stdout = folder / "arguments", folder / "stdout"
        if stdout.exists() and "json" in arguments.read_text().split() and "--format" in arguments.read_text().split():
            yield folder.name, json.loads(stdout.read_text())


def answer(binary, line):
    run = subprocess.run([binary, *line.split(), "--format", "json"], capture_output=True, text=True)
    assert run.returncode in (0, 3, 4), f"{line}: {run.stderr}"
    return json.loads(run.stdout)


def check_that_it_can_fail(document, name, what):
    """A schema that takes anything describes nothing: without any one of its keys the document is refused."""
    for key in schemas[name].get("required", []):
        damaged = copy.deepcopy(document)
        damaged.pop(key, None)
        if not errors(damaged, name):
            failures.append(f"{what}: {name} takes it without {key}")
    if not errors({**document, "no_such_key": 1}, name):
        failures.append(f"{what}: {name} takes a key that it doesn't describe")


def begin(binary, kind, name, like):
    """A file as `init` begins it, from commented text and from JSON; both are read back."""
    text = subprocess.run([binary, kind, "init", name, "--like", like], capture_output=True, text=True, check=True).stdout
    assert "  // " in text, text
    uncommented = json.loads("\n".join(line for line in text.splitlines() if not line.lstrip().startswith("//")))
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder, "mine.json")
        path.write_text(text)
        read = json.loads(subprocess.run([binary, kind, "show", path, "--format", "json"], capture_output=True, text=True, check=True).stdout)
        assert read[{"models": "model"}.get(kind, kind)]["name"] == name
    return uncommented, answer(binary, f"{kind} init {name} --like {like}")


def check_begun(binary):
    for kind, schema, built_in in [("hardware", "hardware-profile.json", "hardware/profiles"), ("models", "model.json", "models/configs")]:
        for like in sorted(path.stem for path in (root / built_in).glob("*.json")):
            uncommented, plain = begin(binary, kind, "mine", like)
            check(plain, schema, f"{kind} init --like {like}")
            if uncommented != plain:
                failures.append(f"{kind} init --like {like}: with and without comments differ")


def check_calibrated(binary):
    """Profiles that calibrate writes, of a built-in one and of one that it wrote, which keeps what stood there first."""
    data = root / "tests/data/calibrate"
    with tempfile.TemporaryDirectory() as folder:
        like = "toy-switch"
        for name in ["once.json", "twice.json"]:
            path = pathlib.Path(folder, name)
            subprocess.run([binary, "calibrate", "--hardware", like, "--from", data / "all_gather_8.log", "-o", path],
                           capture_output=True, check=True)
            profile = json.loads(path.read_text())
            assert "before" in profile["link_efficiency"], profile["link_efficiency"]
            check(profile, "hardware-profile.json", f"calibrate: {name}")
            like = path


# Traces, and the seconds that their compute streams add up to: {process: seconds}.
explained = "explain --model llama2-7b --hardware h100 --chips 8 --mesh fsdp=8 attention=cudnn_flash_te"
audited = (f"audit --timeline --hlo {root}/tests/data/audit/mx7_v5p8_ep8_dm.hlo.gz model_name=mixtral-8x7b per_device_batch_size=1 "
           "ici_fsdp_parallelism=1 ici_expert_parallelism=8 capacity_factor=1.25 sparse_matmul=False megablox=False base_num_decoder_layers=4 "
           "override_model_config=True max_target_length=4096 compile_topology=v5p-16 moe_dispatch_no_expert_sharding=True")
traced = {explained: lambda answer: {1: answer["time"]["step_seconds"]},
          audited: lambda answer: {1: answer["timeline"]["step_seconds"], 2: answer["timeline"]["expected_step_seconds"]}}


def seconds_of_tracks(trace, name):
    """By process, of the track with that name: each event as often as it happens in a step; and what rounding to nanoseconds may miss."""
    tracks = {(e["pid"], e["tid"]) for e in trace["traceEvents"] if e["name"] == "thread_name" and e["args"]["name"] == name}
    seconds = {}
    for e in trace["traceEvents"]:
        if e["ph"] == "X" and (e["pid"], e["tid"]) in tracks:
            whole, rounded = seconds.get(e["pid"], (0, 0))
            seconds[e["pid"]] = whole + e["dur"] * e["args"]["times"] / 1e6, rounded + e["args"]["times"] * 1e-9
    return seconds


def check_traces(binary):
    for line, expected in traced.items():
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder, "step.trace.json")
            seconds = expected(answer(binary, f"{line} --trace {path}"))
            trace = json.loads(path.read_text())
        check(trace, "trace.json", line)
        check_that_it_can_fail(trace, "trace.json", line)
        drawn = seconds_of_tracks(trace, "compute")
        if drawn.keys() != seconds.keys() or any(abs(drawn[p][0] - seconds[p]) > drawn[p][1] for p in drawn):
            failures.append(f"{line}: the trace has {drawn} s, the answer {seconds}")


def main(binary):
    for name, schema in schemas.items():
        jsonschema.Draft202012Validator.check_schema(schema)
    for name, folders in files.items():
        for path in [path for folder in folders for path in sorted((root / folder).glob("*.json"))]:
            document = json.loads(path.read_text())
            check(document, name, str(path.relative_to(root)))
            check_that_it_can_fail(document, name, path.name)
    recorded = dict(goldens())
    assert len(recorded) >= 8, sorted(recorded)
    check_begun(binary)
    check_calibrated(binary)
    check_traces(binary)
    used = {"trace.json"}
    for what, document in [*recorded.items(), *((line, answer(binary, line)) for line in fresh)]:
        name = schema_of(document)
        used.add(name)
        check(document, name, what)
        check_that_it_can_fail(document, name, what)
    unused = set(schemas) - used - set(files) - {"common.json"}
    failures.extend(f"{name} describes no answer of the test" for name in sorted(unused))
    print("\n".join(failures) or f"{len(recorded) + len(fresh)} answers, {len(schemas)} schemas")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
