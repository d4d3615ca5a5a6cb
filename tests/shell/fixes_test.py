#!/usr/bin/env python3
"""Every fix that is printed as settings starts: explain with them costs the run, or says no more than before. Where nothing
fits, what comes closest offers the fixes that explain offers.
Usage: fixes_test.py PATH_OF_SHARDPLAN"""
import concurrent.futures
import json
import os
import pathlib
import re
import subprocess
import sys

dropping = ["sparse_matmul=False", "capacity_factor=1.25"]
models = [("deepseek3-671b", "fsdp=2,expert=2,context=2"), ("mixtral-8x7b", "expert=4,fsdp=2"), ("llama2-7b", "fsdp=4,context=2"),
          ("gpt3-6b", "stage=2,context=2,expert=2"), ("gpt-oss-20b", "fsdp=4,expert=2"), ("qwen3-30b-a3b", "fsdp=4,expert=2")]


def run_on(model, machine, chips, mesh, *more):
    return ["--model", model, "--hardware", machine, "--chips", str(chips), "--mesh", mesh, "per_device_batch_size=2", *more]


runs = [
    run_on("deepseek3-671b", "mi355x", 8, "expert=4,data=2", "--rules", "ep-tp"),
    run_on("deepseek3-671b", "tpu-v5p", 8, "expert=4,fsdp=2", "--rules", "ep-tp"),
    run_on("llama4-17b-16e", "tpu-v5p", 8, "expert=4,fsdp=2", "--rules", "ep-tp"),
    run_on("deepseek3-671b", "tpu-v5p", 256, "fsdp=32,expert=4,context=2"),
    run_on("llama2-7b", "h100", 8, "data=2,fsdp=4", "shard_optimizer_over_data=true", "--program", "train"),
    run_on("mixtral-8x7b", "tpu-v5p", 8, "expert=8", *dropping, "quantization=fp8"),
    run_on("llama2-7b", "tpu-v5p", 8, "stage=2,fsdp=4", "shard_mode=explicit"),
    run_on("llama2-7b", "tpu-v5p", 8, "fsdp=4,context=2", "context_parallel_load_balance=false"),
    run_on("llama2-7b", "tpu-v5p", 8, "stage=2,fsdp=4", "pipeline_fsdp_ag_once=true", "num_layers_per_pipeline_stage=4"),
    run_on("gemma3-4b", "h100", 8, "fsdp=4,context=2", "max_target_length=8192", "attention=cudnn_flash_jax"),
    *[run_on(model, machine, 8, mesh, *kernels) for machine, kernels in
      [("tpu-v5p", []), ("tpu-v6e", []), ("h100", ["megablox=False"]), ("mi355x", ["megablox=False"])] for model, mesh in models],
    *[run_on("mixtral-8x7b", machine, 8, "expert=4,fsdp=2", *dropping, "--rules", rules)
      for machine in ("tpu-v5p", "h100") for rules in ("default", "ep-as-cp", "cp-as-ep", "ep-as-dp")],
]


def explain(binary, words):
    done = subprocess.run([binary, "explain", *words, "--format", "json"], capture_output=True, text=True)
    answer = json.loads(done.stdout) if done.returncode in (0, 3) else {}
    return done.returncode, answer.get("infeasible", {}).get("constraint"), answer.get("findings", []), done.stderr


def settings_of(fix):
    """The words KEY=VALUE that a fix begins with."""
    words = []
    for word in fix.split():
        found = re.match("([a-z][a-z0-9_]*=[^,;]+)([,;]?)$", word)
        if not found:
            break
        words.append(found[1])
        if found[2]:
            break
    return words


def follow(binary, words):
    code, broken, findings, errors = explain(binary, words)
    if code not in (0, 3):
        return 0, [f"{' '.join(words)}: exit {code}: {errors}"]
    failures, followed = [], 0
    for finding in findings:
        settings = settings_of(finding.get("fix") or "")
        if not settings:
            continue
        followed += 1
        keys = {word.split("=")[0] for word in settings}
        with_fix = [word for word in words if word.split("=")[0] not in keys] + settings
        then, breaks, _, errors = explain(binary, with_fix)
        if then != 0 and breaks not in (broken, "hbm") or then not in (0, 3):
            failures.append(f"{' '.join(words)}: {finding['id']}: fix {finding['fix']}: exit {then} {breaks}: {errors}")
    return followed, failures


def closest_differs(binary):
    """Its findings from explain's, of a run whose fixes (sparse_matmul=True) cost more than they spare."""
    plan = [binary, "plan", "--model", "deepseek3-671b", "--chips", "64", "--hardware", "h200", "--rules", "ep-as-cp",
            "--remat", "full", "--per-device-batch", "3", "--format", "json"]
    closest = json.loads(subprocess.run(plan, capture_output=True, text=True).stdout)["results"][0]["closest"]
    arguments = [f"{key}={value}" for key, value in closest["maxtext_arguments"].items()]
    code, _, findings, errors = explain(binary, ["--hardware", "h200", "--chips", "64", *arguments])
    offered, explained = ({f["id"]: f.get("fix") or "" for f in some} for some in (closest["findings"], findings))
    if code not in (0, 3) or "missing-all-to-all" not in offered:
        return [f"closest: exit {code}: {errors} {offered}"]
    return [f"closest: {finding}: offers {fix!r}, explain {explained.get(finding)!r}" for finding, fix in offered.items()
            if explained.get(finding) != fix]


def main(binary):
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        results = list(pool.map(lambda words: follow(binary, words), runs))
    followed, failures = sum(count for count, _ in results), [line for _, lines in results for line in lines]
    failures += closest_differs(binary)
    if followed < 30:
        failures.append(f"only {followed} fixes to follow")
    print("\n".join(failures) or f"{followed} fixes of {len(runs)} runs start")
    return 1 if failures else 0


sys.exit(main(str(pathlib.Path(sys.argv[1]).resolve())))
